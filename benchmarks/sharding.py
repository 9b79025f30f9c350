"""What shards cost in accuracy: eight shards, all of them in use, against the stream learned in one piece."""

import json
from pathlib import Path
from typing import Any

from benchmarks.accuracy import stream_paths
from benchmarks.processes import log, reported
from benchmarks.tables import table

STREAMS = ("sms-spam", "trec-6", "subjectivity", "rt-polarity", "langid-ud", "clinc150", "clickbait", "tweet-emoji")
SHARDS = 8
OTHERS = ("arow", "hinge", "sgd")
SHORT = {
    "naive_bayes": "NB",
    "perceptron": "perceptron",
    "averaged_perceptron": "averaged",
    "passive_aggressive": "PA",
    "logistic_regression": "LR",
    "mixture": "`accurate`",
}

Losses = dict[str, tuple[float, float]]
"""Learner -> points of accuracy that shards have more, over the stream and over its last quarter."""


def measure(folder: Path, repeat: int) -> dict[str, Any]:
    """Stream -> its events, the rounds, and the losses of each learner."""
    paths = stream_paths()
    return {name: _stream(paths[name], folder) for name in STREAMS if name in paths}


def text(figures: dict[str, Any]) -> str:
    """One row per stream: points of accuracy, and in brackets those of the last quarter."""
    titles = ["stream", "events", "rounds", *SHORT.values(), *OTHERS]
    rows = [
        [name, f"{row['events']:,}", str(row["rounds"]), *(_cell(row["losses"][key]) for key in (*SHORT, *OTHERS))]
        for name, row in figures.items()
    ]
    return table(titles, rows)


def _cell(loss: tuple[float, float]) -> str:
    return f"{loss[0]:+.1f} ({loss[1]:+.1f})".replace("-", "−")


def _stream(path: Path, folder: Path) -> dict[str, Any]:
    losses: Losses = {}
    rounds = events = 0
    others = [part for name in OTHERS for part in ("--learner", name)]
    for options in ([], ["--preset", "accurate"], others):
        (serial, _), (sharded, report) = (
            _ran(path, folder, [*options, *more]) for more in ([], ["--shards", str(SHARDS)])
        )
        assert report["rounds"]["shards_in_use"] == SHARDS
        rounds, events = report["rounds"]["rounds"], report["events"]
        gained = {name: (sharded[name][0] - serial[name][0], sharded[name][1] - serial[name][1]) for name in serial}
        losses = {name: one for name, one in gained.items() if name in (*SHORT, *OTHERS)} | losses
        log(f"{path.name}: {losses}")
    return {"events": events, "rounds": rounds, "losses": losses}


def _ran(path: Path, folder: Path, options: list[str]) -> tuple[dict[str, tuple[float, float]], dict[str, Any]]:
    """Learner -> accuracy in points, of all and of the last quarter; and the report."""
    lines = folder / "predictions.jsonl"
    lines.unlink(missing_ok=True)
    _, report = reported(folder, str(path), *options, "--predictions", str(lines))
    told = [json.loads(line) for line in lines.read_text().splitlines()]
    last = told[3 * len(told) // 4 :]
    names = report["learners"]
    return {name: (_share(told, name), _share(last, name)) for name in names}, report


def _share(told: list[dict[str, Any]], name: str) -> float:
    return 100 * sum(line["learners"][name] == line["label"] for line in told) / len(told)
