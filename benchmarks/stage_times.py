"""Time per event of each stage, on one thread: `python -m benchmarks.stage_times STREAM LONGEST_NGRAM`.

The times of a stage are summed over all batches; the result is JSON on standard output.
"""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from streamlin.config import FieldsConfig, RunConfig
from streamlin.events import Batch, Records
from streamlin.features.rows import Examples
from streamlin.formats import open_format
from streamlin.formats.framing import Lines
from streamlin.learners import learn_labels
from streamlin.model import Model
from streamlin.streams.prediction_lines import PredictionLines

BATCH = 1000


class Clock:
    """Seconds of each stage, and the bytes that it reads and writes, as far as its arrays tell."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.bytes: dict[str, int] = {}

    @contextmanager
    def of(self, stage: str, moved: int = 0) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - begin
        self.bytes[stage] = self.bytes.get(stage, 0) + moved


def main() -> None:
    path, longest = sys.argv[1:]
    config = RunConfig(features={"words": {"ngrams": [1, int(longest)]}})
    data = Path(path).read_bytes()
    _all_stages(config, data[: data.index(b"\n", 200_000) + 1], Clock())  # compiles
    clock = Clock()
    events, entries = _all_stages(config, data, clock)
    stages = {
        stage: {"ns": 1e9 * seconds / events, "bytes": clock.bytes[stage] / events}
        for stage, seconds in clock.seconds.items()
    }
    print(json.dumps({"events": events, "entries": entries / events, "stages": stages}))


def _all_stages(config: RunConfig, data: bytes, clock: Clock) -> tuple[int, int]:
    with clock.of("copying the input", 2 * len(data)):
        bytearray(data)
    with clock.of("cutting it into lines", len(data)):
        starts, ends, _ = Lines()(data, True)
    reader, model = open_format("json", {}, FieldsConfig(), ()), Model(config)
    lines = PredictionLines(model.names, model.labels)
    events = entries = 0
    for begin in range(0, starts.size, BATCH):
        part = slice(begin, begin + BATCH)
        records = Records(data, starts[part], ends[part], starts[part], ends[part] + 1, "-")
        size = int(records.ends[-1] - records.starts[0])
        with clock.of("decoding JSON", 2 * size):
            batch, _ = reader.decode(records)
        with clock.of("cutting into tokens, hashing", size):
            features = model.featurize(batch)
        events += len(batch)
        entries += features["words"].buckets.size
        _learn(model, batch, features, lines, clock)
    return events, entries


def _learn(model: Model, batch: Batch, features: Any, lines: PredictionLines, clock: Clock) -> None:
    """Do what `Model.step` does, stage by stage."""
    entries = features["words"].buckets.size
    with clock.of("labels"):
        goals = learn_labels(model.labels, batch.labels, batch.weights)
    with clock.of("rows of the buckets", entries * (4 + 4 + 4)):
        examples: Examples = model.rows["words"].examples(features["words"], goals.codes >= 0)
    scores = np.empty((len(model.names), goals.codes.size, len(model.labels)))
    for name, own in zip(model.names, scores, strict=True):
        learner = model.learners[name]
        learner.grow(len(model.rows["words"]), len(model.labels))
        row = sum(table.strides[0] for table in _tables(learner))
        with clock.of(name, entries * (8 + row)):
            learner.score_then_learn(examples, goals, own)
    prequential = model.prequential
    with clock.of("measuring", scores.nbytes):
        prequential.count_features({"words": examples}, batch.weights)
        position = partial(_position, batch)
        predictions = prequential.predict_and_count(
            scores, goals.codes, batch.weights, model.labels, batch.extra, None, position
        )
    with clock.of("prediction lines"):
        text = lines.encode(batch, predictions)
    clock.bytes["prediction lines"] += len(text.text)


def _position(batch: Batch, event: int) -> str:
    return batch.records.name(int(batch.kept[event]))


def _tables(learner: Any) -> list[Any]:
    """The tables with one row per feature."""
    return [table for name in learner.tables if (table := getattr(learner, name)).ndim == 2]


if __name__ == "__main__":
    main()
