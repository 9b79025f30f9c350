"""What workers cost and bring: the same rounds without workers, with one and with two, and the stream in one piece."""

from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.processes import log, reported, write_synthetic
from benchmarks.tables import table

SHARDS, ROUND = 4, 100_000
SIZES = (10 * ROUND, 20 * ROUND)
"""Events of two streams; what the longer one takes more is net of the start, of loading kernels, and of the first
rounds, in which tables grow and Ray touches its memory for the first time."""
OPTIONS = ("--shards", str(SHARDS), "--set", f"mixing.floor={ROUND // SHARDS}", "--set", f"mixing.max_events={ROUND}")
RUNS = {
    "in one piece": (),
    "4 shards": OPTIONS,
    "1 worker": (*OPTIONS, "--workers", "1"),
    "2 workers": (*OPTIONS, "--workers", "2"),
}


def measure(folder: Path, repeat: int) -> dict[str, Any]:
    """Run -> the median of its seconds for the further events; of workers, the seconds of their processors an event."""
    paths = {size: folder / f"{size}.jsonl" for size in SIZES}
    for size, path in paths.items():
        write_synthetic(path, events=size)
    for options in RUNS.values():  # what is not compiled yet is not measured
        reported(folder, str(paths[SIZES[0]]), *options)
    seconds: dict[str, dict[int, list[float]]] = {name: {size: [] for size in SIZES} for name in RUNS}
    figures: dict[str, Any] = {}
    for _ in range(repeat):
        for name, options in RUNS.items():
            for size, path in paths.items():
                _, report = reported(folder, str(path), *options, "--predictions", str(folder / "out.jsonl"))
                seconds[name][size].append(report["seconds"])
                (folder / "out.jsonl").unlink()
                if "workers" in report:
                    figures.setdefault(f"{name}, rows", []).append([size, report["workers"]])
            log(f"{name}: {[round(own[-1], 2) for own in seconds[name].values()]}")
    for name, own in seconds.items():
        net = [late - early for early, late in zip(*own.values(), strict=True)]
        figures[name] = {"net": median(net), "all": median(own[SIZES[-1]]), "of": net}
    return figures


def text(figures: dict[str, Any]) -> str:
    """A row for each run."""
    further = SIZES[-1] - SIZES[0]
    rows = [[name, f"{further / figures[name]['net']:,.0f}", *_of_workers(figures, name)] for name in RUNS]
    return table(["run", "events/s", "µs an event of workers' processors", "of it mixing"], rows)


def _of_workers(figures: dict[str, Any], name: str) -> list[str]:
    """Of the further events: time of all workers' processors an event, and the share of mixing."""
    spent: dict[tuple[int, str], float] = {}
    for size in SIZES:
        rows = [own for of, own in figures.get(f"{name}, rows", ()) if of == size]
        for key in _SECONDS if rows else ():
            spent[size, key] = median(sum(row[key] for row in own) for own in rows)
    if not spent:
        return ["–", "–"]
    learning, mixing = (spent[SIZES[-1], key] - spent[SIZES[0], key] for key in _SECONDS)
    return [f"{1e6 * learning / (SIZES[-1] - SIZES[0]):.1f}", f"{100 * mixing / learning:.0f} %"]


_SECONDS = ("learning_seconds", "mixing_seconds")
