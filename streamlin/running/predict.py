"""Predicting with a checkpoint, without learning."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager

from streamlin.checkpoint.loading import load_model
from streamlin.config import KafkaConfig
from streamlin.errors import redacted
from streamlin.evaluation.prequential import UNVERIFIED
from streamlin.model import Model
from streamlin.running.read_ahead import DEPTH, IDLE_SECONDS, ReadAhead, short_turns
from streamlin.streams.addresses import parse_address
from streamlin.streams.opening import open_source
from streamlin.streams.prediction_lines import PredictionLines
from streamlin.streams.read_records import ReadRecords
from streamlin.streams.reader import Portion, Reader
from streamlin.streams.sinks import Sinks


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
    external_models: bool = True,
) -> int:
    """Write a prediction line for each event of a source, with the model of the checkpoint in `folder`.

    kafka : how brokers are reached; a checkpoint does not hold that.
    allow_pickle, external_models : see `load_model`.

    Returns the number of dead letters. Raises StreamlinError as a run does, also where no record became an event.
    """
    model, config, *_ = load_model(folder, previous, allow_pickle, external_models)
    for line in (*model.pop_notices(), *([UNVERIFIED] if model.prequential.unverified else [])):
        notice(line)
    config = config.model_copy(update={"kafka": kafka or KafkaConfig()})
    source, decoder, pace = open_source(
        parse_address(url, "stdin"), config, {}, notice, stop, delayed_labels=config.delayed_labels.enabled
    )
    with (
        closing(Reader(source, decoder, model.featurize, config.pipeline, limit, pace, stop)) as reader,
        closing(Sinks(predictions, dead_letters, {}, notice, config.settings_of)) as sinks,
        _reading_ahead(reader, stop) as portions,
    ):
        read = ReadRecords(notice, reader.decoder.advice)
        _predict_all(portions, read, model, model.lines(), sinks, notice)
    if not stop.is_set():
        read.end(redacted(url))
    return read.dead_letters


@contextmanager
def _reading_ahead(reader: Reader, stop: threading.Event) -> Iterator[Iterable[Portion | None]]:
    """The portions, read on a thread of their own, which has ended at the end."""
    reading = ReadAhead(iter(reader), DEPTH, IDLE_SECONDS, stop, lambda portion: portion.is_small)
    try:
        with short_turns():
            yield reading
    except BaseException:
        stop.set()
        raise
    finally:
        reading.join()


def _predict_all(
    portions: Iterable[Portion | None],
    read: ReadRecords,
    model: Model,
    lines: PredictionLines,
    sinks: Sinks,
    notice: Callable[[str], None],
) -> None:
    for portion in portions:
        if portion is None:
            sinks.flush()
            continue
        if len(portion.batch):
            given, predictions = model.predict(portion.batch, portion.features)
            for line in model.pop_notices():
                notice(line)
            sinks.write(lines.encode(given, predictions), given)
        sinks.write_dead(portion.dead, portion.records)
        read.add(portion)
    sinks.sync({})
