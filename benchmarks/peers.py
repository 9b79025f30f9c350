"""Measure streamlin beside Vowpal Wabbit, river and scikit-learn: `make bench-peers`.

OPTIONS="--quick" makes a trial of a minute or two, whose figures mean nothing; OPTIONS="--only speed" runs one part.
Prints figures and asserts nothing about them. `bench/peers.md`, `peers.json` and `peers.svg` keep those of the last
run. This process imports nothing large: the peak memory of a child process is at least that of its parent at the fork.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import peers_accuracy, peers_grid, peers_preset, peers_speed, peers_tagging
from benchmarks.machine import machine, sentence
from benchmarks.processes import run, streamlin
from benchmarks.tables import marked

REPORT = Path(__file__).resolve().parents[1] / "bench"
PACKAGES = ("vowpalwabbit", "river", "scikit-learn", "python-crfsuite")
PARTS = {
    "speed": peers_speed,
    "accuracy": peers_accuracy,
    "preset": peers_preset,
    "grid": peers_grid,
    "tagging": peers_tagging,
}


def main() -> None:
    """Measure the given parts, print each as it is done, and write the report."""
    arguments = _arguments()
    repeat = arguments.repeat or (1 if arguments.quick else 5)
    figures: dict[str, Any] = {"machine": machine(*PACKAGES), "quick": arguments.quick, "repeat": repeat}
    trial = " A quick trial: these figures mean nothing." if arguments.quick else ""
    texts = [marked("peers-machine", f"Machine: {sentence(figures['machine'], *PACKAGES)}.{trial}")]
    print(texts[0], flush=True)
    streamlin("warm")  # what is not compiled yet is not measured
    for name in [arguments.only] if arguments.only else PARTS:
        with tempfile.TemporaryDirectory(prefix="streamlin-peers-") as folder:
            figures[name] = PARTS[name].measure(Path(folder), repeat, arguments.quick)
        texts.append(PARTS[name].text(figures[name]))
        print(f"\n{texts[-1]}", flush=True)
        _keep(figures, texts)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small streams, one repetition")
    parser.add_argument("--only", choices=PARTS, metavar="PART", help=f"one of {', '.join(PARTS)}")
    parser.add_argument(
        "--repeat", type=int, metavar="N", help="repetitions of cases that take less than minutes; 5 by default"
    )
    return parser.parse_args()


def _keep(figures: dict[str, Any], texts: list[str]) -> None:
    """Write the report; called after each part, so that an interrupted run keeps its figures."""
    REPORT.mkdir(exist_ok=True)
    source = REPORT / "peers.json"
    source.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    (REPORT / "peers.md").write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    if any(figures.get("accuracy", {}).values()):
        run(sys.executable, "-m", "benchmarks.peers_picture", str(source), str(REPORT / "peers.svg"))
    print(f"\nwritten to {REPORT}/peers.md and peers.json", flush=True)


if __name__ == "__main__":
    main()
