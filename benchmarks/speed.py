"""Speed of a whole run, predictions written, on a file of texts of 25 words with 4 labels."""

from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.processes import repetitions, reported, write_synthetic
from benchmarks.tables import spread, table
from streamlin.config import DEFAULT_KINDS


class Case(NamedTuple):
    """One configuration. learner : None for all five. longest : words in the longest n-gram."""

    events: int
    longest: int
    threads: int
    learner: str | None

    def options(self) -> list[str]:
        chosen = ["--learner", self.learner] if self.learner else []
        return [
            *("--set", f"features.words.ngrams=[1, {self.longest}]"),
            *("--set", f"pipeline.threads={self.threads}"),
            *chosen,
        ]


LEARNERS = (None, *DEFAULT_KINDS)
CASES = [
    *(Case(200_000, longest, threads, learner) for longest in (1, 2) for threads in (2, 1) for learner in LEARNERS),
    *(Case(1_000_000, longest, 2, learner) for longest in (1, 2) for learner in LEARNERS),
]


def measure(folder: Path, repeat: int) -> list[dict[str, Any]]:
    """Repetitions of each case. All cases run in turn, then all again, so that disturbances affect all alike."""
    for events in (200_000, 1_000_000):
        write_synthetic(folder / f"{events}.jsonl", events=events, words=25, labels=4)
    _run(folder, CASES[0])  # compiles
    found: list[dict[str, Any]] = [case._asdict() | {"runs": []} for case in CASES]
    for _ in repetitions(repeat):
        for case, row in zip(CASES, found, strict=True):
            row["runs"].append(_run(folder, case))
    return found


def text(figures: list[dict[str, Any]]) -> str:
    """One row per case: the median, the least and the greatest."""
    rows = [
        [
            row["learner"] or "all five",
            f"[1, {row['longest']}]",
            f"{row['events']:,}",
            str(row["threads"]),
            spread([row["events"] / run["seconds"] for run in row["runs"]]),
            spread([run["events_per_second"] for run in row["runs"]]),
            spread([run["user_seconds"] for run in row["runs"]], ".2f"),
        ]
        for row in figures
    ]
    titles = ["learners", "n-grams", "events", "threads", "events/s, whole process", "events/s, learning", "user CPU s"]
    return table(titles, rows, left=2)


def _run(folder: Path, case: Case) -> dict[str, float]:
    """Seconds and user CPU time of the whole process, and the rate of its report, from first read to last write."""
    predictions = f"{folder}/predictions.jsonl?mode=overwrite"
    finished, report = reported(folder, f"{folder}/{case.events}.jsonl", "--predictions", predictions, *case.options())
    return {
        "seconds": finished.seconds,
        "user_seconds": finished.user_seconds,
        "events_per_second": report["events_per_second"],
    }
