"""Predicting with a checkpoint, learning nothing."""

import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

from numpy.typing import NDArray

from streamlin.addresses import parse_address
from streamlin.checkpoint import load
from streamlin.config import FeedbackConfig, KafkaConfig, RunConfig
from streamlin.errors import CheckpointError
from streamlin.model import Model
from streamlin.outputs import Outputs
from streamlin.prediction_lines import PredictionLines
from streamlin.reader import Reader
from streamlin.settings import checked
from streamlin.sources import open_source


def config_of(state: dict[str, Any]) -> RunConfig:
    """The configuration that a checkpoint was made under, as far as it reaches a prediction."""
    try:
        return checked(state["fingerprint"])
    except Exception as error:
        raise CheckpointError(f"the checkpoint's configuration is not this version's: {error}") from None


def model_of(config: RunConfig, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> Model:
    """What a checkpoint has learned; it waits for no more labels."""
    model = Model(config.model_copy(update={"feedback": FeedbackConfig()}))
    model.restore(arrays, state)
    return model


def predict(
    folder: str,
    url: str,
    predictions: str,
    dead_letters: str | None,
    limit: int | None,
    notice: Callable[[str], None],
    stop: threading.Event,
    previous: bool = False,
    kafka: KafkaConfig | None = None,
) -> int:
    """Write a prediction line for each event of a source, from what the checkpoint in `folder` has learned.

    kafka : how brokers are reached, of which a checkpoint knows nothing.

    Returns the number of dead letters. Raises StreamlinError as a run does.
    """
    arrays, state = load(folder, previous)
    config = config_of(state).model_copy(update={"kafka": kafka or KafkaConfig()})
    model = model_of(config, arrays, state)
    source, decoder, pace = open_source(
        parse_address(url, "stdin"), config, {}, notice, stop, late_labels=config.feedback.enabled
    )
    with (
        closing(Reader(source, decoder, model.featurize, config.pipeline, limit, pace, stop)) as reader,
        closing(Outputs(predictions, dead_letters, {}, notice, config.settings_of)) as outputs,
    ):
        return _predict_all(reader, model, outputs)


def _predict_all(reader: Reader, model: Model, outputs: Outputs) -> int:
    lines, dead = PredictionLines(model.names, model.labels), 0
    for portion in reader:
        if portion is None:
            outputs.flush()
            continue
        if len(portion.batch):
            given, predictions = model.predict(portion.batch, portion.features)
            outputs.write(lines.encode(given, predictions), given)
        outputs.write_dead(portion.dead, portion.records)
        dead += len(portion.dead)
    outputs.sync({})
    return dead
