"""Accuracy and calibration of the preset `accurate`, the same for all streams."""

from pathlib import Path
from typing import Any

from benchmarks.accuracy import GOALS, has_split, stream_paths, test_slice
from benchmarks.processes import log, reported
from benchmarks.tables import percent, table


def measure(folder: Path, repeat: int) -> dict[str, Any]:
    """Stream -> accuracy, ECE and log loss of the mixture, and the accuracy of its best member."""
    paths = stream_paths()
    names = [*(name for name in GOALS if name in paths), *(name for name in paths if name not in GOALS)]
    return {name: _stream(name, paths[name], folder) for name in names}


def text(figures: dict[str, Any]) -> str:
    """One row per stream; the accuracy on the test slice is in brackets."""
    rows = [
        [
            *(name, f"{row['events']:,}", str(row["labels"]), f"{percent(row['best'])} {row['best_name']}"),
            f"**{percent(row['mixture'])}**" + (f" ({percent(row['test'])})" if row["test"] is not None else ""),
            *(f"{100 * row['ece']:.2f}", f"{row['log_loss']:.3f}"),
        ]
        for name, row in figures.items()
    ]
    titles = ["stream", "events", "labels", "best member", "mixture (test slice)", "ECE, %", "log loss"]
    return table(titles, rows)


def _stream(name: str, path: Path, folder: Path) -> dict[str, Any]:
    slicing = ["--slice-by", "split"] if has_split(path) else []
    _, report = reported(folder, str(path), "--preset", "accurate", *slicing)
    log(f"{name}, accurate: {report['events']:,} events in {report['seconds']:.1f} s")
    learners = dict(report["learners"])
    mixture, tested = learners.pop("mixture"), test_slice(report)
    best = max(learners, key=lambda member: learners[member]["accuracy"])
    return {
        "events": report["events"],
        "labels": len(report["labels"]),
        "best_name": best,
        "best": learners[best]["accuracy"],
        "mixture": mixture["accuracy"],
        "test": None if tested is None else tested["learners"]["mixture"],
        "ece": mixture["ece"],
        "log_loss": mixture["log_loss"],
    }
