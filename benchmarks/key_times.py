"""Time per event of learning a model for each key: `python -m benchmarks.key_times EVENTS HOW`.

HOW is plain (no keys), alone (a model per key) or shared (and the shared one beside it). The result is JSON on
standard output: nanoseconds of processor time an event of a new model, of another one after it, and of that one when
the same events come again. The first of these also pays for memory that the machine has not used of late, which the
host of a virtual machine must provide first; the others find it there. Everything is done on one thread, in batches as
a run has them by default.
"""

import json
import sys
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from streamlin.config import RunConfig
from streamlin.config.pipeline import PipelineConfig
from streamlin.events import Batch, single_records
from streamlin.model import Model

KEYS, WORDS, LENGTH, LABELS = 100_000, 50_000, 25, 4
PIPELINE = PipelineConfig(threads=1)
BATCH = PIPELINE.batch_size


def main() -> None:
    count, how = int(sys.argv[1]), sys.argv[2]
    found, batches = {}, list(_batches(count))
    _model(how).step(batches[0], _model(how).featurize(batches[0]))  # compiles
    model: Model | None = _model(how)
    features = [model.featurize(batch) for batch in batches]
    for name in ("unused", "first", "again"):
        if name != "again":
            model = None  # its memory is given back before the next one takes any
            model = _model(how)
        begin = time.process_time()
        for batch, own in zip(batches, features, strict=True):
            model.step(batch, own)
        found[name] = 1e9 * (time.process_time() - begin) / count
    print(json.dumps(found))


def _model(how: str) -> Model:
    keys = None if how == "plain" else {"per": "key", "max_keys": KEYS, "shared": how == "shared"}
    views = {"words": {"ngrams": [1, 1]}}
    return Model(RunConfig(features=views, pipeline=PIPELINE, **({"keys": keys} if keys else {})))


def _batches(count: int) -> Iterator[Batch]:
    """Keys by Zipf's law; words likewise, with the exponent 1.05; labels at random."""
    random = np.random.default_rng(1)
    keys, words = random.choice(KEYS, count, p=_zipf(KEYS, 1.0)), _zipf(WORDS, 1.05)
    for begin in range(0, count, BATCH):
        size = min(BATCH, count - begin)
        texts = [" ".join(f"w{word}" for word in row) for row in random.choice(WORDS, (size, LENGTH), p=words).tolist()]
        yield Batch(
            ids=[str(begin + i) for i in range(size)],
            texts=texts,
            labels=[f"label {label}" for label in random.integers(LABELS, size=size).tolist()],
            weights=np.ones(size),
            times=np.full(size, np.nan),
            extra={"key": [f"key {key}" for key in keys[begin : begin + size].tolist()]},
            records=single_records([text.encode() for text in texts]),
            kept=np.arange(size),
        )


def _zipf(size: int, exponent: float) -> NDArray[np.float64]:
    weights: NDArray[np.float64] = np.arange(1, size + 1) ** -exponent
    return weights / weights.sum()


if __name__ == "__main__":
    main()
