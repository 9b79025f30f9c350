"""Grouping accuracy of the templates that Drain finds, and its speed.

`python -m benchmarks.log_templates DATA` reads `log-bgl-2k.jsonl.gz` and `log-thunderbird-2k.jsonl.gz` in DATA.
"""

import gzip
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from streamlin.config import DrainConfig
from streamlin.events import Batch, single_records
from streamlin.features.drain import Drain
from tests.naive_drain import grouping_accuracy

_BATCH, _REPEATED = 4000, 50


def found(texts: Sequence[str]) -> tuple[list[int], int]:
    """The number of each line's template, and how many there are."""
    drain, numbers = Drain(DrainConfig()), list[int]()
    for begin in range(0, len(texts), _BATCH):
        part = list(texts[begin : begin + _BATCH])
        n = len(part)
        none: list[str | None] = [None] * n
        extra = {"template": list(none)}
        batch = Batch(none, part, none, np.ones(n), np.full(n, np.nan), extra, single_records([]), np.arange(n))
        drain.assign(batch)
        assert batch.templates is not None
        numbers += batch.templates.numbers.tolist()
    return numbers, len(drain)


def main(folder: Path) -> None:
    for name in ("bgl", "thunderbird"):
        with gzip.open(folder / f"log-{name}-2k.jsonl.gz", "rt", encoding="utf-8", newline="\n") as lines:
            events = [json.loads(line) for line in lines]
        true = [event["template"] for event in events]
        for field in ("content", "text"):
            texts = [event[field] for event in events]
            numbers, count = found(texts)
            begin = time.perf_counter()
            found(texts * _REPEATED)
            rate = len(texts) * _REPEATED / (time.perf_counter() - begin)
            print(
                f"{name:<12} {field:<8} {len(set(true))} templates, {count} found, grouping accuracy "
                f"{grouping_accuracy(numbers, true):.4f}, {rate:,.0f} lines/s"
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
