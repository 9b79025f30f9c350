"""Accuracy of the learners: one pass over every real text stream, with the default configuration."""

import gzip
import json
from pathlib import Path
from typing import Any

from benchmarks.processes import log, reported
from benchmarks.tables import percent, table
from tests.locations import DATA

GOALS = {
    "sms-spam": 98.0,
    "rt-polarity": 74.5,
    "subjectivity": 90.0,
    "trec-6": 79.5,
    "reuters-acq": 97.0,
    "pp-attachment": 82.0,
    "clickbait": 97.0,
    "clinc150": 83.5,
    "tweet-emoji": 29.0,
}
TEST_GOALS = {"reuters-acq": 98.0, "pp-attachment": 84.0}
PUBLISHED = {
    "pp-attachment": "maximum entropy 83.7",
    "reuters-acq": "maximum entropy 95.5, with feature selection 95.8",
}
"""Accuracies, in percent, on the same test slice of learners that were trained on the training part alone."""

OPTIONS = {"pp-attachment": ["--set", "features.words.tokens=whitespace"]}
"""The stream's `v=…` and `n1=…` are tokens, not text."""


def measure(folder: Path, repeat: int) -> dict[str, Any] | None:
    """Stream -> events, labels, accuracies, and those on its test slice, if it has one; None without data."""
    if not DATA.is_dir():
        return None
    paths = stream_paths()
    streams = [*GOALS, *(name for name in paths if name not in GOALS)]
    return {name: _stream(name, paths[name], folder) for name in streams if name in paths}


def stream_paths() -> dict[str, Path]:
    """Text streams by name; none without data."""
    paths = {path.name.removesuffix(".jsonl.gz"): path for path in sorted(DATA.glob("*.jsonl.gz"))}
    return {name: path for name, path in paths.items() if not name.startswith(("pos-", "ner-", "trees-"))}


def text(figures: dict[str, Any] | None) -> str:
    """Two tables: over all events, and over the test slices."""
    if figures is None:
        return f"Accuracy was not measured: {DATA} does not exist."
    tested = {name: stream for name, stream in figures.items() if stream["test"]}
    return f"{_whole_table(figures)}\n\n{_test_table(tested)}"


def _stream(name: str, path: Path, folder: Path) -> dict[str, Any]:
    slicing = ["--slice-by", "split"] if has_split(path) else []
    _, report = reported(folder, str(path), *slicing, *OPTIONS.get(name, []))
    log(f"{name}: {report['events']:,} events in {report['seconds']:.1f} s")
    return {
        "events": report["events"],
        "labels": len(report["labels"]),
        "majority": report["baselines"]["majority"]["accuracy"],
        "learners": {learner: row["accuracy"] for learner, row in report["learners"].items()},
        "test": test_slice(report),
    }


def has_split(path: Path) -> bool:
    """Whether the events have a field `split`, the part of the data that they belong to."""
    with gzip.open(path, "rb") as file:
        return "split" in json.loads(file.readline())


def test_slice(report: dict[str, Any]) -> dict[str, Any] | None:
    """Accuracies on the test part, None if the stream has none."""
    found = report["slices"].get("split", {}).get("test")
    if found is None:
        return None
    return {"events": found["events"], "learners": {name: found[name]["accuracy"] for name in report["learners"]}}


def _whole_table(figures: dict[str, Any]) -> str:
    learners = list(next(iter(figures.values()))["learners"])
    rows = [
        [
            *(name, f"{stream['events']:,}", str(stream["labels"]), percent(stream["majority"])),
            *_shares(stream["learners"]),
            _goal(GOALS, name),
        ]
        for name, stream in figures.items()
    ]
    return table(["stream", "events", "labels", "majority", *learners, "goal"], rows)


def _test_table(figures: dict[str, Any]) -> str:
    learners = list(next(iter(figures.values()))["learners"])
    rows = [
        [
            *(name, PUBLISHED.get(name, ""), f"{stream['test']['events']:,}"),
            *_shares(stream["test"]["learners"]),
            _goal(TEST_GOALS, name),
        ]
        for name, stream in figures.items()
    ]
    return table(["test slice", "published, batch", "events", *learners, "goal"], rows, left=2)


def _shares(learners: dict[str, float]) -> list[str]:
    """Accuracies in percent, the best one in bold."""
    best = max(learners.values())
    return [f"**{percent(share)}**" if share == best else percent(share) for share in learners.values()]


def _goal(goals: dict[str, float], name: str) -> str:
    return f"≥ {goals[name]:.1f}" if name in goals else ""
