"""Speed of our learners in pipelines of river and scikit-learn, beside the learners of those libraries."""

import json
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.processes import log, run, write_synthetic
from benchmarks.tables import spread, table

PYTHON = str(Path(__file__).resolve().parents[1] / "bench/peers-venv/bin/python")
"""An environment with river and scikit-learn; the other benchmarks must not find them."""


def measure(folder: Path, repeat: int) -> list[dict[str, Any]]:
    """For each case, seconds of theirs and of ours in each repetition."""
    for labels in (2, 4):
        write_synthetic(folder / f"{labels}.jsonl", events=10_000, words=25, labels=labels)
    log("river and scikit-learn")
    found: list[dict[str, Any]] = json.loads(
        run(PYTHON, "-m", "benchmarks.python_times", str(folder), str(repeat)).stdout
    )
    return found


def text(figures: list[dict[str, Any]]) -> str:
    """One row per case: microseconds per text, and the ratio of each repetition."""
    rows = [
        [
            row["name"],
            str(row["labels"]),
            *(f"{1e6 * median(run[side] for run in row['runs']) / row['texts']:,.1f}" for side in (0, 1)),
            spread([theirs / ours for theirs, ours in row["runs"]], ",.1f"),
            row["goal"],
        ]
        for row in figures
    ]
    return table(["instead of", "labels", "theirs, µs a text", "ours, µs a text", "times as fast", "goal"], rows)
