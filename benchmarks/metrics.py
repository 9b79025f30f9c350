"""The cost of all metrics compared with accuracy alone: all five learners on words, texts of 25 words, 4 labels.

The difference is smaller than what separates two whole runs on the same machine. So two models learn the same portions
in turn on one thread, and the CPU time of that thread is taken:
`python -m benchmarks.metrics FILE LONGEST`.
"""

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.processes import repetitions, run_module, write_synthetic
from benchmarks.tables import spread, table
from streamlin.config import RunConfig
from streamlin.model import Model
from streamlin.streams.addresses import parse_address
from streamlin.streams.opening import open_source
from streamlin.streams.prediction_lines import PredictionLines
from streamlin.streams.reader import Reader

CHOICES = ("accuracy", "all")
EVENTS = 200_000


def measure(folder: Path, repeat: int) -> list[dict[str, Any]]:
    """For each longest n-gram, microseconds per event of each repetition, by the work that they were spent on."""
    path = folder / "events.jsonl"
    write_synthetic(path, events=EVENTS, words=25, labels=4)
    run_module("metrics", str(path), "1")  # compiles
    found: list[dict[str, Any]] = [{"longest": longest, "runs": []} for longest in (1, 2)]
    for _ in repetitions(repeat):
        for row in found:
            row["runs"].append(run_module("metrics", str(path), str(row["longest"]))[1])
    return found


def text(figures: list[dict[str, Any]]) -> str:
    """One row per case. With two threads, reading and writing happen beside learning and do not count."""
    titles = ["n-grams", "reading, µs", "learning, accuracy alone, µs", "learning, all metrics, µs", "writing, µs"]
    rows = [
        [
            f"[1, {row['longest']}]",
            *(spread([run[part] for run in row["runs"]], ".2f") for part in ("read", *CHOICES, "write")),
            *(spread([_slower(run, threads) for run in row["runs"]], ".1f") for threads in (1, 2)),
        ]
        for row in figures
    ]
    return table([*titles, "slower with 1 thread, %", "slower with 2, %"], rows)


def _slower(run: dict[str, float], threads: int) -> float:
    """Percent of the time per event on the thread that learns."""
    alone = run["accuracy"] + (run["read"] + run["write"] if threads == 1 else 0.0)
    return 100 * (run["all"] - run["accuracy"]) / alone


def _run(path: str, longest: int) -> dict[str, float]:
    """Microseconds per event."""
    features = {"words": {"ngrams": [1, longest]}}
    models = {c: Model(RunConfig(features=features, evaluation={"metrics": c})) for c in CHOICES}  # type: ignore[arg-type]
    config, stop, spent = RunConfig(), threading.Event(), dict.fromkeys(("read", *CHOICES, "write"), 0.0)
    source, decoder, _ = open_source(parse_address(path, "stdin"), config, {}, print, stop, dict)
    portions = iter(Reader(source, decoder, models["all"].featurize, config.pipeline, None, None, stop, path))
    lines, order = PredictionLines(models["all"].names, models["all"].labels), list(models)
    while True:
        begin = time.thread_time()
        portion = next(portions, None)
        spent["read"] += time.thread_time() - begin
        if portion is None:
            break
        for choice in order:
            begin = time.thread_time()
            given, predictions = models[choice].step(portion.batch, portion.features)
            spent[choice] += time.thread_time() - begin
        order.reverse()
        begin = time.thread_time()
        lines.encode(given, predictions)
        spent["write"] += time.thread_time() - begin
    return {part: 1e6 * seconds / models["all"].prequential.events for part, seconds in spent.items()}


if __name__ == "__main__":
    print(json.dumps(_run(sys.argv[1], int(sys.argv[2]))))
