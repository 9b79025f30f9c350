"""Every tool on whole streams: its accuracy, test-then-train, and its speed."""

import tempfile
from collections.abc import Callable, Sequence
from math import isnan
from pathlib import Path
from typing import Any

from benchmarks import peer_runs as runs
from benchmarks.accuracy import OPTIONS
from benchmarks.peer_scores import RAW, TOKENS, VW18, VW24, scored
from benchmarks.peer_streams import prepared
from benchmarks.peer_tools import chosen
from benchmarks.peers_errors import error_table
from benchmarks.peers_ratios import NOISE, typical_without_start
from benchmarks.processes import log, write_synthetic
from benchmarks.tables import marked, percent, table
from tests.locations import DATA

SYNTHETIC = "synthetic"
REAL = (
    *("sms-spam", "rt-polarity", "trec-6", "subjectivity", "pp-attachment", "clinc150", "tweet-emoji"),
    *("spamassassin", "reuters-acq", "reuters-topics", "clickbait"),
)
QUICK = ("sms-spam",)
LONG, QUICK_LONG = 10_000_000, 3_000_000
"""The least bytes of JSON lines that speed is measured on."""
_TOOLS = (TOKENS, RAW, VW18, VW24, "river", "scikit-learn")


def measure(folder: Path, repeat: int, quick: bool) -> dict[str, Any]:
    """Stream -> its rows, one per configuration; None if its data are missing."""
    found: dict[str, Any] = {}
    for name in QUICK if quick else (SYNTHETIC, *REAL):
        source = DATA / f"{name}.jsonl.gz"
        if name == SYNTHETIC:
            source = folder / "synthetic.jsonl"
            write_synthetic(source, events=20_000, words=25, labels=4)
        log(f"{name}:")
        with tempfile.TemporaryDirectory(dir=folder) as own:
            if source.is_file():
                found[name] = _measured(name, source, Path(own), min(repeat, 3), quick)
            else:
                found[name] = None
    return found


def _measured(name: str, source: Path, folder: Path, repeat: int, quick: bool) -> dict[str, Any]:
    own = OPTIONS.get(name, [])
    plain = name == SYNTHETIC or any("tokens=whitespace" in option for option in own)
    stream = prepared(source, folder, "whitespace" if plain else "words")
    fast = scored(chosen(quick), stream, folder, QUICK_LONG if quick else LONG, own)
    slow = [*runs.river(stream, once=True), *runs.scikit_learn(stream, 1000, once=True)]
    rows = runs.repeated([*(case for case, _ in fast), *slow], repeat)
    for row, (_, score) in zip(rows, fast, strict=False):
        row["score"] = score()
    for row in rows[len(fast) :]:
        row["score"] = row["runs"][0].pop("score")
    return {"events": stream.events, "labels": stream.labels, "rows": rows}


def text(figures: dict[str, Any]) -> str:
    """The best configuration of each tool; then all of them: accuracy, accuracy on the test slice, and speed."""
    there = {name: stream for name, stream in figures.items() if stream}
    missing = [name for name in figures if name not in there]
    return f"{marked('peers-best', _best(there, missing))}\n\n{marked('peers-accuracy', _all(there))}"


def _best(there: dict[str, Any], missing: Sequence[str]) -> str:
    real = {name: stream for name, stream in there.items() if name != SYNTHETIC}
    return "\n\n".join(
        [
            *(f"Skipped, not found in {DATA}: {name}." for name in missing),
            "Per cent right, each tool's best configuration, chosen afterwards. All have the same tokens, lower-cased; "
            f"“{RAW}” sees case, punctuation and characters too. VW has its 18 bits, or 24:",
            _best_table(there),
            *(["Against VW's best, chosen afterwards, on the real streams:", error_table(real)] if real else []),
        ]
    )


def _all(there: dict[str, Any]) -> str:
    tested = {name: stream for name, stream in there.items() if stream["rows"][0]["score"]["test"]}
    return "\n\n".join(
        [
            "Per cent right, all events (scikit-learn predicts 1,000 events, then learns them: not test-then-train):",
            _matrix(there, lambda row: percent(row["score"]["right"] / row["score"]["events"])),
            *(["Per cent right, test slice:", _matrix(tested, _test_share)] if tested else []),
            "Thousand events a second by the tool's own clock without its start (a run of 1 or 100 events), median. "
            "streamlin and VW read a short stream over and over, and write predictions:",
            _matrix(there, lambda row: NOISE if isnan(rate(row)) else f"{rate(row) / 1000:,.1f}"),
        ]
    )


def rate(row: dict[str, Any]) -> float:
    """Events per second without the start, median of the repetitions; NaN if a start took longer than the run."""
    return 1 / typical_without_start(row["runs"])


def _best_table(streams: dict[str, Any]) -> str:
    rows = [
        [name, f"{stream['events']:,}", str(stream["labels"]), *(_best_of(stream["rows"], tool) for tool in _TOOLS)]
        for name, stream in streams.items()
    ]
    return table(["stream", "events", "labels", *_TOOLS], rows)


def _best_of(rows: list[dict[str, Any]], tool: str) -> str:
    best = max((row for row in rows if row["tool"] == tool), key=lambda row: row["score"]["right"])
    return f"{percent(best['score']['right'] / best['score']['events'])} ({best['name']})"


def _test_share(row: dict[str, Any]) -> str:
    return percent(row["score"]["test"]["right"] / row["score"]["test"]["events"])


def _matrix(streams: dict[str, Any], shown: Callable[[dict[str, Any]], str]) -> str:
    """One row per configuration, one column per stream."""
    cells = [{(row["tool"], row["name"]): shown(row) for row in stream["rows"]} for stream in streams.values()]
    keys = dict.fromkeys(key for column in cells for key in column)
    ordered = sorted(keys, key=lambda key: _TOOLS.index(key[0]))
    rows = [[*key, *(column.get(key, "") for column in cells)] for key in ordered]
    return table(["tool", "configuration", *streams], rows, left=2)
