"""Measure streamlin as its users run it: `make bench`, or `make bench PARTS="speed startup"`.

Prints figures and asserts nothing about them. `bench/report.md` and `bench/report.json` keep those of the last run.
This process imports nothing large: the peak memory of a child process is at least that of its parent when it forks.
"""

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import (
    accuracy,
    accurate,
    kafka,
    keys,
    memory,
    metrics,
    python,
    restoring,
    scaling,
    serve,
    sharding,
    speed,
    stages,
    startup,
    watching,
    workers,
)
from benchmarks.machine import machine, sentence
from benchmarks.tables import marked

REPORT = Path(__file__).resolve().parents[1] / "bench"


class Part(NamedTuple):
    """measure : (empty folder, repetitions) -> figures, as JSON values. text : figures -> Markdown."""

    measure: Callable[[Path, int], Any]
    text: Callable[[Any], str]


PARTS = {
    "accuracy": Part(accuracy.measure, accuracy.text),
    "accurate": Part(accurate.measure, accurate.text),
    "speed": Part(speed.measure, speed.text),
    "stages": Part(stages.measure, stages.text),
    "python": Part(python.measure, python.text),
    "metrics": Part(metrics.measure, metrics.text),
    "watching": Part(watching.measure, watching.text),
    "startup": Part(startup.measure, startup.text),
    "memory": Part(memory.measure, memory.text),
    "kafka": Part(kafka.measure, kafka.text),
    "serve": Part(serve.measure, serve.text),
    "keys": Part(keys.measure, keys.text),
    "sharding": Part(sharding.measure, sharding.text),
    "workers": Part(workers.measure, workers.text),
    "restoring": Part(restoring.measure, restoring.text),
    "scaling": Part(scaling.measure, scaling.text),
}


def main() -> None:
    """Measure the given parts, print each as it is done, and write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of {', '.join(PARTS)}; all by default")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="repetitions of each timing")
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown part {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}")
    figures: dict[str, Any] = {"machine": machine()}
    texts = [marked("machine", f"Machine: {sentence(figures['machine'])}.")]
    print(texts[0])
    for name in arguments.parts or PARTS:
        with tempfile.TemporaryDirectory(prefix="streamlin-bench-") as folder:
            figures[name] = PARTS[name].measure(Path(folder), arguments.repeat)
        texts.append(marked(name, PARTS[name].text(figures[name])))
        print(f"\n{texts[-1]}", flush=True)
    REPORT.mkdir(exist_ok=True)
    (REPORT / "report.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    (REPORT / "report.md").write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    print(f"\nwritten to {REPORT}/report.md and report.json")


if __name__ == "__main__":
    main()
