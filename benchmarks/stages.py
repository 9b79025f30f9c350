"""Time per event and bytes moved of each stage of a run."""

from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.processes import repetitions, run_module, write_synthetic
from benchmarks.tables import table

EVENTS = 100_000


def measure(folder: Path, repeat: int) -> dict[str, list[dict[str, Any]]]:
    """Longest n-gram -> its runs."""
    source = folder / "synthetic.jsonl"
    write_synthetic(source, events=EVENTS, words=25, labels=4)
    found: dict[str, list[dict[str, Any]]] = {"1": [], "2": []}
    for _ in repetitions(repeat, "stages"):
        for longest, runs in found.items():
            runs.append(run_module("stage_times", str(source), longest)[1])
    return found


def text(figures: dict[str, list[dict[str, Any]]]) -> str:
    """One row per stage; the last row is their sum."""
    titles = ["stage, on one thread"]
    columns: list[dict[str, str]] = []
    for longest, runs in figures.items():
        titles += [f"n-grams [1, {longest}], ns an event", "bytes an event", "GB/s"]
        stages = {name: median(run["stages"][name]["ns"] for run in runs) for name in runs[0]["stages"]}
        column = {}
        for name, ns in stages.items():
            moved = runs[0]["stages"][name]["bytes"]
            column[name] = f"{ns:,.0f} | {moved:,.0f} | {moved / ns:.2f}" if moved else f"{ns:,.0f} | – | –"
        rest = sum(ns for name, ns in stages.items() if name != "copying the input")
        column["all but the copy"] = f"{rest:,.0f} | – | –"
        columns.append(column)
    rows = [[name.replace("_", " "), *(column[name] for column in columns)] for name in columns[0]]
    entries = " and ".join(f"{runs[0]['entries']:.1f}" for runs in figures.values())
    return f"{table(titles, rows)}\n\n{EVENTS:,} events, 4 labels, {entries} features an event, batches of 1,000."
