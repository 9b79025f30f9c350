"""Start-up time of the command."""

from pathlib import Path
from typing import Any

from benchmarks.processes import log, streamlin
from benchmarks.tables import spread, table

_MANY = "synthetic://?events=1000&labels=2&seed=1"


def measure(folder: Path, repeat: int) -> dict[str, Any]:
    """Seconds of whole processes: the help, runs of one event, and of many, the first without compiled kernels."""
    log("start-up")
    helped = [streamlin("--help").seconds for _ in range(2 * repeat)]
    event = folder / "one.jsonl"
    event.write_text('{"id": "1", "text": "a single event", "label": "only"}\n', encoding="utf-8")
    kernels = {"NUMBA_CACHE_DIR": str(folder / "kernels")}

    def run(source: str) -> Any:
        return streamlin("run", source, "--predictions", f"{folder}/p.jsonl?mode=overwrite", environment=kernels)

    one = [run(str(event)).seconds for _ in range(2 * repeat)]
    first = run(_MANY)
    later = [run(_MANY).seconds for _ in range(2 * repeat)]
    says_so = "compiling" in first.stderr
    return {"help": helped, "one": one, "first": first.seconds, "says_so": says_so, "later": later}


def text(figures: dict[str, Any]) -> str:
    """One row per command."""
    told = "says so" if figures["says_so"] else "does not say so"
    rows = [
        ["`streamlin --help`", spread(figures["help"], ".3f")],
        ["`streamlin run` of one event, start to exit", spread(figures["one"], ".2f")],
        ["`streamlin run` of 1,000 events, which imports numba", spread(figures["later"], ".2f")],
        [f"the same, the first time on a machine (compiles beside it, and {told})", f"{figures['first']:.1f}"],
    ]
    return table(["command", "seconds"], rows)
