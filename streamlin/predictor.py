"""Predicting with a checkpoint, learning nothing."""

import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

from numpy.typing import NDArray

from streamlin.addresses import parse_address
from streamlin.checkpoint import load
from streamlin.config import FeedbackConfig, GuestConfig, KafkaConfig, RunConfig
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


def refuse_pickled(config: RunConfig) -> None:
    """Raise CheckpointError if a checkpoint of this configuration holds guests: it says which code they run."""
    names = [learner.name for learner in config.learners if isinstance(learner, GuestConfig)]
    if names:
        raise CheckpointError(
            f"the checkpoint holds pickled learners ({', '.join(names)}), and to unpickle them runs code that whoever "
            "made it has chosen; --allow-pickle (from Python allow_pickle=True) allows that, if you trust it"
        )


def model_of(
    config: RunConfig, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any], allow_pickle: bool = False
) -> Model:
    """What a checkpoint has learned; it waits for no more labels.

    allow_pickle : guests in it may be unpickled.

    Raises
    ------
    CheckpointError : they may not, or can't.
    """
    if not allow_pickle:
        refuse_pickled(config)
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
    allow_pickle: bool = False,
) -> int:
    """Write a prediction line for each event of a source, from what the checkpoint in `folder` has learned.

    kafka : how brokers are reached, of which a checkpoint knows nothing.
    allow_pickle : as of `model_of`.

    Returns the number of dead letters. Raises StreamlinError as a run does.
    """
    arrays, state = load(folder, previous)
    config = config_of(state).model_copy(update={"kafka": kafka or KafkaConfig()})
    model = model_of(config, arrays, state, allow_pickle)
    source, decoder, pace = open_source(
        parse_address(url, "stdin"), config, {}, notice, stop, late_labels=config.feedback.enabled
    )
    with (
        closing(Reader(source, decoder, model.featurize, config.pipeline, limit, pace, stop)) as reader,
        closing(Outputs(predictions, dead_letters, {}, notice, config.settings_of)) as outputs,
    ):
        return _predict_all(reader, model, outputs, notice)


def _predict_all(reader: Reader, model: Model, outputs: Outputs, notice: Callable[[str], None]) -> int:
    lines, dead = PredictionLines(model.names, model.labels), 0
    for portion in reader:
        if portion is None:
            outputs.flush()
            continue
        if len(portion.batch):
            given, predictions = model.predict(portion.batch, portion.features)
            for line in model.take_news():
                notice(line)
            outputs.write(lines.encode(given, predictions), given)
        outputs.write_dead(portion.dead, portion.records)
        dead += len(portion.dead)
    outputs.sync({})
    return dead
