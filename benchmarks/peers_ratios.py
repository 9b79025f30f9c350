"""Ratios of speed between streamlin and what it replaces."""

from collections.abc import Callable, Sequence
from math import isnan
from statistics import median
from typing import Any, NamedTuple

from benchmarks.peer_tools import INSTEAD_OF_ALL_VW, LEARNERS, MAPPINGS, RIVER, TEXTS, VW, VW_LOGISTIC, named
from benchmarks.tables import spread, table

UNWRITTEN, API = "VW, no predictions", "streamlin, Python"
NOISE = "noise"
"""Shown if a run was shorter than its start."""
Rows = dict[tuple[str, str], list[dict[str, Any]]]
"""(tool, configuration) -> runs."""


class Ratio(NamedTuple):
    """`ours` against all of `theirs` one after the other; each is (tool, configuration)."""

    ours: tuple[str, str]
    theirs: Sequence[tuple[str, str]]
    called: str
    goal: float


RATIOS = [
    *(
        Ratio(("streamlin", kind), [(tool, VW_LOGISTIC)], called, 1.2)
        for tool, called in (("VW", "VW logistic"), (UNWRITTEN, "VW logistic, no predictions"))
        for kind in LEARNERS
    ),
    *(
        Ratio(("streamlin", name), [(tool, one) for one in VW], called, 3)
        for tool, called in (("VW", "the five VW runs"), (UNWRITTEN, "the five VW runs, no predictions"))
        for name in INSTEAD_OF_ALL_VW
    ),
    *(Ratio(("streamlin", kind), [("river", name)], f"river, {name}", 50) for kind, name in RIVER.items()),
    *(
        Ratio((API, named(kind, given)), [("river", named(name, given))], f"river, {named(name, given)}", 3)
        for given in (TEXTS, MAPPINGS)
        for kind, name in RIVER.items()
    ),
]


def ratio_table(figures: list[dict[str, Any]]) -> str:
    """Ratios by each clock; by whole processes only if both sides had as many events, so that starts weigh the same."""
    found = {(row["tool"], row["name"]): row["runs"] for row in figures}
    rows = []
    for ratio in (ratio for ratio in RATIOS if ratio.ours in found):
        ours, theirs = found[ratio.ours], [found[one] for one in ratio.theirs]
        alike = all(runs[0]["events"] == ours[0]["events"] for runs in theirs)
        rows.append(
            [
                f"{ratio.ours[1]}, event by event from Python" if ratio.ours[0] == API else ratio.ours[1],
                ratio.called,
                _shown(ours, theirs, lambda run: run["seconds"] / run["events"]),
                _shown(ours, theirs, without_start),
                _shown(ours, theirs, lambda run: run["process_seconds"] / run["events"]) if alike else "",
                f"≥ {ratio.goal:g}",
            ]
        )
    titles = ["streamlin", "times as fast as", "own clocks", "without the starts", "whole processes", "goal"]
    return table(titles, rows, left=2)


def without_start(run: dict[str, Any]) -> float:
    """Seconds per event after the start; NaN if that took longer than the run."""
    rest = run["seconds"] - run.get("start_seconds", 0)
    return rest / (run["events"] - run.get("start_events", 0)) if rest > 0 else float("nan")


def typical_without_start(runs: Sequence[dict[str, Any]]) -> float:
    """The median of `without_start` over the repetitions; NaN if any of them is."""
    seconds = [without_start(run) for run in runs]
    return float("nan") if any(map(isnan, seconds)) else median(seconds)


def _shown(
    ours: list[dict[str, Any]], theirs: list[list[dict[str, Any]]], seconds: Callable[[dict[str, Any]], float]
) -> str:
    """The spread of the ratios of each repetition, since disturbances affect both sides of a repetition."""
    others = zip(*theirs, strict=True)
    ratios = [sum(map(seconds, row)) / seconds(run) for run, row in zip(ours, others, strict=True)]
    return NOISE if any(map(isnan, ratios)) else spread(ratios, ",.2f")
