"""What many workers would do: a model of rounds, computed from unit costs that are measured on this machine.

A worker hosts one shard and has a core of its own, and so has each thread of the run. With S shards of n events a
round, r rows that a shard changes, and the costs of `shard_costs`, a round takes::

    worker = n learn + r collect + S r mix + (S - 1) r bytes / NETWORK
    run    = S n run + S (call + (S - 1) argument)
    round  = max(worker, run)

since the workers learn the next round while the run counts this one.
"""

from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.accuracy import stream_paths
from benchmarks.processes import log, run_module, write_synthetic
from benchmarks.tables import table

LABELS = (2, 4, 20)
EVENTS = 300_000
NETWORK = 1.25e9
"""Bytes a second: 10 Gbit/s."""
WORKERS = (1, 2, 4, 16, 64, 1000)
ROUNDS = (25_000, 250_000)
"""Events of a shard in a round."""


def measure(folder: Path, repeat: int) -> dict[str, Any]:
    """Costs by number of labels; of Ray's calls; rows that events of `tweet-emoji` have, as a power of their number."""
    costs: dict[str, list[dict[str, float]]] = {str(labels): [] for labels in LABELS}
    for labels, runs in costs.items():
        path = folder / f"{labels}.jsonl"
        write_synthetic(path, events=EVENTS, labels=int(labels))
        for _ in range(repeat):
            runs.append(run_module("shard_costs", str(path))[1])
        log(f"scaling: {labels} labels: {runs[-1]}")
    medians = {labels: {name: median(run[name] for run in runs) for name in runs[0]} for labels, runs in costs.items()}
    return {"costs": medians, **run_module("scaling_costs", str(stream_paths()["tweet-emoji"]))[1]}


def text(figures: dict[str, Any]) -> str:
    """The unit costs; then what they say about some numbers of workers."""
    names = ("read", "run", "write", "learn", "collect", "mix", "bytes")
    titles = ["labels", "read", "run", "write", "learn", "collect a row", "mix a row", "bytes a row"]
    units = [[labels, *(_short(own[name]) for name in names)] for labels, own in figures["costs"].items()]
    titles_of_rounds = ["workers", "events a shard and round", "round", "worker", "run", "events/s", "bound by"]
    rows = [_row(figures, workers, events) for events in ROUNDS for workers in WORKERS]
    exponent, factor = figures["exponent"], figures["factor"]
    return "\n\n".join(
        (
            table(titles, units),
            f"A call {figures['call']:.0f} µs, an argument of it {figures['argument']:.0f} µs; "
            f"rows of n events {factor:.1f} n^{exponent:.2f}.",
            table(titles_of_rounds, rows),
        )
    )


def _row(figures: dict[str, Any], workers: int, events: int) -> list[str]:
    worker, run = times(figures, workers, events)
    spent = max(worker, run)
    bound = "workers" if worker > run else "the run"
    seconds = [f"{own:,.2f} s" for own in (spent, worker, run)]
    return [f"{workers:,}", f"{events:,}", *seconds, f"{workers * events / spent:,.0f}", bound]


def times(figures: dict[str, Any], shards: int, events: int) -> tuple[float, float]:
    """Seconds of a round, two labels: of each worker, and of the run."""
    own = figures["costs"]["2"]
    rows = figures["factor"] * events ** figures["exponent"]
    mixing = shards * rows * own["mix"]
    worker = events * own["learn"] + rows * own["collect"] + mixing
    run = shards * events * own["run"] + shards * (figures["call"] + (shards - 1) * figures["argument"])
    return 1e-6 * worker + (shards - 1) * rows * own["bytes"] / NETWORK, 1e-6 * run


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.2f}"
