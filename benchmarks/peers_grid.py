"""Growth of time per event and peak memory with labels, words per text and hash bits; streamlin beside VW."""

import tempfile
from collections.abc import Callable
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import peer_runs as runs
from benchmarks.peer_streams import Stream, prepared, signed
from benchmarks.peer_tools import GRID, STREAMLIN, VW, VW_BINARY, VW_LOGISTIC
from benchmarks.peers_ratios import NOISE, typical_without_start
from benchmarks.processes import log, write_synthetic
from benchmarks.tables import marked, table


class Grid(NamedTuple):
    """events : words per text -> number of texts."""

    labels: tuple[int, ...]
    events: dict[int, int]
    bits: tuple[int, ...]
    vocabulary: int


FULL = Grid((2, 20, 150), {10: 200_000, 100: 30_000, 1000: 5_000}, (18, 20, 22, 24), 100_000)
QUICK = Grid((2, 150), {10: 4_000}, (24,), 10_000)
_AXES = ("labels", "words", "bits")


def measure(folder: Path, repeat: int, quick: bool) -> list[dict[str, Any]]:
    """Cells of the grid: labels, words, bits, and the rows of the cases."""
    grid = QUICK if quick else FULL
    return [
        cell
        for labels in grid.labels
        for words, events in grid.events.items()
        for cell in _cells(folder, repeat, grid, labels, words, events)
    ]


def _cells(folder: Path, repeat: int, grid: Grid, labels: int, words: int, events: int) -> list[dict[str, Any]]:
    log(f"{labels} labels, {words} words:")
    with tempfile.TemporaryDirectory(dir=folder) as own:
        source = Path(own) / "synthetic.jsonl"
        write_synthetic(source, events=events, words=words, labels=labels, vocabulary=grid.vocabulary)
        stream = prepared(source, Path(own), "whitespace")
        return [
            {"labels": labels, "words": words, "bits": bits}
            | {"rows": runs.repeated(_cases(stream, Path(own), bits), min(repeat, 3))}
            for bits in grid.bits
        ]


def _cases(stream: Stream, folder: Path, bits: int) -> list[runs.Case]:
    ours = {name: (*STREAMLIN[name], "--set", f"features.bits={bits}") for name in GRID}
    vw = {VW_LOGISTIC: stream} | ({VW_BINARY: signed(stream, folder)} if stream.labels == 2 else {})
    logistic = f"-b {bits} {VW[VW_LOGISTIC]}"
    return [
        *(runs.Case("streamlin", n, partial(runs.run_streamlin, stream, folder, ours[n], True)) for n in ours),
        *(runs.Case("VW", n, partial(runs.run_vw, vw[n], folder, logistic, True)) for n in vw),
    ]


def text(figures: list[dict[str, Any]]) -> str:
    """Microseconds per event, then peak memory; one row per cell of the grid."""
    times = _table(figures, _microseconds)
    peaks = _table(figures, lambda found: f"{max(run['peak_bytes'] for run in found) / 1e6:,.0f}")
    shown = "\n\n".join(
        [
            "Microseconds an event by the tool's own clock without its start (a run of 1 or 100 events), median, "
            "predictions written:",
            times,
            "Peak resident memory of the whole process, MB, Python and what it imports included on either side:",
            peaks,
        ]
    )
    return marked("peers-grid", shown)


def _microseconds(found: list[dict[str, Any]]) -> str:
    seconds = typical_without_start(found)
    return NOISE if isnan(seconds) else f"{1e6 * seconds:,.2f}"


def _table(figures: list[dict[str, Any]], shown: Callable[[list[dict[str, Any]]], str]) -> str:
    cases = list(dict.fromkeys((row["tool"], row["name"]) for cell in figures for row in cell["rows"]))
    rows = []
    for cell in figures:
        found = {(row["tool"], row["name"]): shown(row["runs"]) for row in cell["rows"]}
        rows.append([*(str(cell[key]) for key in _AXES), *(found.get(case, "") for case in cases)])
    return table([*_AXES, *(f"{tool} {name}" for tool, name in cases)], rows, left=0)
