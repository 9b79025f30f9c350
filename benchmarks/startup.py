"""Start-up time of the command."""

import fcntl
from pathlib import Path
from typing import Any

from benchmarks.processes import log, streamlin
from benchmarks.tables import spread, table


def measure(folder: Path, repeat: int) -> dict[str, Any]:
    """Seconds of whole processes: the help, the first run without compiled kernels on disk, and the runs after it."""
    log("start-up")
    helped = [streamlin("--help").seconds for _ in range(2 * repeat)]
    event = folder / "one.jsonl"
    event.write_text('{"id": "1", "text": "a single event", "label": "only"}\n', encoding="utf-8")
    kernels = {"NUMBA_CACHE_DIR": str(folder / "kernels")}
    command = ("run", str(event), "--predictions", f"{folder}/predictions.jsonl?mode=overwrite")
    first = streamlin(*command, environment=kernels)
    _wait_for_the_compiler(folder / "kernels")
    later = [streamlin(*command, environment=kernels).seconds for _ in range(repeat)]
    return {"help": helped, "first": first.seconds, "says_so": "compiling" in first.stderr, "later": later}


def text(figures: dict[str, Any]) -> str:
    """One row per command."""
    told = "says so" if figures["says_so"] else "does not say so"
    rows = [
        ["`streamlin --help`", spread(figures["help"], ".3f")],
        ["`streamlin run` of one event, start to exit", spread(figures["later"], ".2f")],
        [f"the same, the first time on a machine (compiles beside it, and {told})", f"{figures['first']:.1f}"],
    ]
    return table(["command", "seconds"], rows)


def _wait_for_the_compiler(kernels: Path) -> None:
    """Wait until the process that compiles has ended; it holds a lock as long."""
    for lock in kernels.glob("*/second.lock"):
        with lock.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX)
