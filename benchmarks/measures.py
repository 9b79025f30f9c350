"""The cost of new words and of the language model beside five learners: `python -m benchmarks.measures FILE [TIMES]`.

The difference is smaller than what separates two runs on the same machine. So one model learns a stream, and for each
case the same portions are featurized, measured and written besides, on one thread, whose CPU time is taken. Medians
over all portions but the first count. On two threads only measuring and learning count, since reading, features and
writing happen beside them.
"""

import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.config import RunConfig
from streamlin.evaluation import Predictions
from streamlin.events import Batch
from streamlin.model import Model
from streamlin.streams.addresses import parse_address
from streamlin.streams.opening import open_source
from streamlin.streams.reader import Reader

CASES: Mapping[str, Mapping[str, Any]] = {
    "nothing": {},
    "new words": {"evaluation": {"novelty": True}, "pipeline": {"novelty": True}},
    "surprise": {"surprise": {"model": "kneser_ney"}},
}
PARTS = ("reading", "learning", "features", "measuring", "lines")
WARM = 3


def beside(model: Model, batch: Batch, predictions: Predictions) -> tuple[float, float, float]:
    """The seconds for the features, measures and prediction lines of a batch that another model has learned."""
    lines, times = model.lines(), [time.thread_time()]
    features = model.featurize(batch)
    times.append(time.thread_time())
    measures = model.measures.update(batch, features.tokens, 0)
    times.append(time.thread_time())
    lines.encode(batch, predictions._replace(measures=measures))
    times.append(time.thread_time())
    return times[1] - times[0], times[2] - times[1], times[3] - times[2]


def measured(path: str) -> dict[str, NDArray[np.float64]]:
    """For each case microseconds an event of each part, medians over the portions."""
    models = {case: Model(RunConfig(**tables)) for case, tables in CASES.items()}
    learner, config, stop = models["nothing"], RunConfig(), threading.Event()
    source, decoder, _ = open_source(parse_address(path, "stdin"), config, {}, print, stop, dict)
    portions = iter(Reader(source, decoder, learner.featurize, config.pipeline, None, None, stop, path))
    found: dict[str, list[NDArray[np.float64]]] = {case: [] for case in CASES}
    for model in models.values():
        model.labels = learner.labels  # for the lines
    while True:
        begin = time.thread_time()
        portion = next(portions, None)
        if portion is None:
            return {case: 1e6 * np.median(rows[WARM:], axis=0) for case, rows in found.items()}
        read, batch = time.thread_time() - begin, portion.batch
        begin = time.thread_time()
        _, predictions = learner.step(batch, portion.features)
        learned = time.thread_time() - begin
        parts = {case: beside(model, batch, predictions) for case, model in models.items()}
        read -= parts["nothing"][0]  # the reader has featurized the batch
        for case, own in parts.items():
            found[case].append(np.array([read, learned, *own]) / len(batch))


def main(path: str, times: int) -> None:
    runs = [measured(path) for _ in range(times)]
    plain = np.array([run["nothing"] for run in runs])
    for case in CASES:
        own = np.array([run[case] for run in runs])
        parts = ", ".join(f"{name} {value:.2f}" for name, value in zip(PARTS, np.median(own, axis=0), strict=True))
        one, two = (own[:, part].sum(1) / plain[:, part].sum(1) for part in ([0, 1, 2, 3, 4], [1, 3]))
        print(f"{case}, µs an event: {parts}; slower on one thread: {_percent(one)}, on two: {_percent(two)}")


def _percent(ratios: NDArray[np.float64]) -> str:
    """By how much they exceed 1: the median, and all."""
    return f"{100 * (np.median(ratios) - 1):.1f} % ({', '.join(f'{100 * (ratio - 1):.1f}' for ratio in ratios)})"


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5)
