"""Time per event of a model for each key, beside one model."""

from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.processes import repetitions, run_module
from benchmarks.tables import table

EVENTS = 400_000
TITLES = {
    "plain": "no keys",
    "alone": "a model per key",
    "shared": "a model per key, and the shared one",
}


def measure(folder: Path, repeat: int) -> dict[str, list[dict[str, Any]]]:
    """Whether there are keys -> its runs."""
    found: dict[str, list[dict[str, Any]]] = {how: [] for how in TITLES}
    for _ in repetitions(repeat, "keys"):
        for how, runs in found.items():
            runs.append(run_module("key_times", str(EVENTS), how)[1])
    return found


def text(figures: dict[str, list[dict[str, Any]]]) -> str:
    """One row for each kind of models."""
    titles = ["five learners, words"]
    for title in ("in unused memory", "in memory that was used", "once all is known"):
        titles += [f"{title}, µs an event", "events/s"]
    rows = []
    for how, runs in figures.items():
        times = [median(run[name] for run in runs) for name in ("unused", "first", "again")]
        rows.append([TITLES[how], *(cell for time in times for cell in (f"{time / 1e3:.1f}", f"{1e9 / time:,.0f}"))])
    return f"{table(titles, rows)}\n\n{EVENTS:,} events of 25 words and 100,000 keys by Zipf's law, 4 labels, one core."
