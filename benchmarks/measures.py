"""The cost of new words and of the language model beside five learners: `python -m benchmarks.measures FILE [TIMES]`.

The difference is smaller than what separates two whole runs on the same machine. So a model without and one with it
learn the same portions in turn, on one thread, whose CPU time is taken: for the features, for learning, and for lines
of predictions. Medians over all portions but the first count. On two threads only learning costs anything, since
reading, features and writing happen beside it.
"""

import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.config import RunConfig
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
PARTS = ("reading", "features", "learning", "lines")
WARM = 3


def learn(model: Model, batch: Batch) -> tuple[float, float, float]:
    """Learn a batch; the seconds for features, learning and prediction lines."""
    lines, times = model.lines(), [time.thread_time()]
    features = model.featurize(batch)
    times.append(time.thread_time())
    given, predictions = model.step(batch, features)
    times.append(time.thread_time())
    lines.encode(given, predictions)
    times.append(time.thread_time())
    return times[1] - times[0], times[2] - times[1], times[3] - times[2]


def measured(path: str) -> dict[str, NDArray[np.float64]]:
    """For each case microseconds an event, for reading, features, learning and lines, medians over the portions."""
    models = {case: Model(RunConfig(**tables)) for case, tables in CASES.items()}
    config, stop = RunConfig(), threading.Event()
    source, decoder, _ = open_source(parse_address(path, "stdin"), config, {}, print, stop, dict)
    portions = iter(Reader(source, decoder, lambda _: {}, config.pipeline, None, None, stop, path))  # type: ignore[arg-type, return-value]
    found: dict[str, list[tuple[float, ...]]] = {case: [] for case in CASES}
    order = list(CASES)
    while True:
        begin = time.thread_time()
        portion = next(portions, None)
        if portion is None:
            break
        read, n = time.thread_time() - begin, len(portion.batch)
        for case in order:
            found[case].append((read / n, *(seconds / n for seconds in learn(models[case], portion.batch))))
        order.reverse()
    return {case: 1e6 * np.median(rows[WARM:], axis=0) for case, rows in found.items()}


def main(path: str, times: int) -> None:
    runs = [measured(path) for _ in range(times)]
    plain = np.array([run["nothing"] for run in runs])
    for case in CASES:
        own = np.array([run[case] for run in runs])
        parts = ", ".join(f"{name} {value:.2f}" for name, value in zip(PARTS, np.median(own, axis=0), strict=True))
        one, two = (own[:, part].sum(1) / plain[:, part].sum(1) for part in (slice(None), slice(2, 3)))
        slower = [
            f"{100 * (np.median(r) - 1):.1f} ({', '.join(f'{100 * (v - 1):.1f}' for v in r)})" for r in (one, two)
        ]
        print(f"{case}, µs an event: {parts}; slower on one thread, %: {slower[0]}; on two: {slower[1]}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5)
