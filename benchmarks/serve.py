"""A service and its clients on the same cores: latency of predictions at a steady rate, and the highest throughput.

All five learners and all metrics; texts of 25 words, 4 labels; 100,000 events were learned before. At the steady rate
learning goes on, and a checkpoint is written every five seconds.
"""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.processes import STREAMLIN, repetitions, run_module, streamlin, write_synthetic
from benchmarks.tables import spread, table

RATE, SECONDS, LEARNED = 1000, 30, 50
SIZE, CONNECTIONS, BATCH_SECONDS = 100, 4, 10
EVENTS = 100_000
_QUANTILES = ("p50", "p90", "p99", "p99.9", "longest")


def measure(folder: Path, repeat: int) -> list[dict[str, Any]]:
    """For each longest n-gram, the figures of each repetition."""
    path = folder / "events.jsonl"
    write_synthetic(path, events=EVENTS, words=25, labels=4)
    found: list[dict[str, Any]] = []
    for longest in (1, 2):
        state, ngrams = str(folder / f"state-{longest}"), f"features.words.ngrams=[1, {longest}]"
        streamlin("run", str(path), "--checkpoint", state, "--set", ngrams)
        steady, batches = [], []
        with served(state) as port:
            for _ in repetitions(repeat, f"serve, n-grams [1, {longest}]"):
                steady.append(run_module("serve_load", "steady", port, str(RATE), str(SECONDS), str(LEARNED))[1])
                batches.append(
                    run_module("serve_load", "batches", port, str(SIZE), str(CONNECTIONS), str(BATCH_SECONDS))[1]
                )
        found.append({"longest": longest, "steady": steady, "batches": batches})
    return found


def text(figures: list[dict[str, Any]]) -> str:
    """Two tables: latency at the steady rate, and throughput of lists of texts."""
    titles = ["n-grams", "requests", *(f"{name}, ms" for name in _QUANTILES), "learn p50, ms", "learn p99, ms"]
    keys = (*_QUANTILES, "learn_p50", "learn_p99")
    rows = [
        [
            f"[1, {row['longest']}]",
            f"{RATE:,} a second, {SECONDS} s",
            *(spread([run[key] for run in row["steady"]], ".1f") for key in keys),
        ]
        for row in figures
    ]
    lists = [
        [f"[1, {row['longest']}]", f"{SIZE}", spread([run["texts_per_second"] for run in row["batches"]])]
        for row in figures
    ]
    return f"{table(titles, rows, left=2)}\n\n{table(['n-grams', 'texts in a request', 'texts/s'], lists)}"


@contextmanager
def served(state: str) -> Iterator[str]:
    """The port of a service."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIN_")}
    command = [STREAMLIN, "serve", state, "0", "--set", "checkpoint.every_seconds=5"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=plain)
    try:
        assert process.stderr is not None
        told = process.stderr.readline()
        while "service is at" not in told:
            told = process.stderr.readline()
        yield re.findall(r":(\d+)/", told)[0]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
