"""Every tool on one synthetic stream: its speed, and the ratios that are goals of this project."""

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import peer_runs as runs
from benchmarks.peer_streams import Stream, prepared
from benchmarks.peer_tools import MAPPINGS, TEXTS, VW, VW_BITS, chosen
from benchmarks.peers_ratios import API, UNWRITTEN, ratio_table
from benchmarks.processes import write_synthetic
from benchmarks.tables import marked, spread, table


class Size(NamedTuple):
    """Number of events, and how many of the first ones each slow tool gets."""

    events: int
    river: int
    batches: int
    single: int


FULL = Size(1_000_000, river=5_000, batches=20_000, single=300)
QUICK = Size(20_000, river=300, batches=2_000, single=5)


def measure(folder: Path, repeat: int, quick: bool) -> list[dict[str, Any]]:
    """One row per case, all on the same stream; slow tools get its first events only."""
    size = QUICK if quick else FULL
    source = folder / "synthetic.jsonl"
    write_synthetic(source, events=size.events, words=25, labels=4)
    return runs.repeated(_cases(chosen(quick), prepared(source, folder, "whitespace"), folder, size), repeat)


def _cases(ours: runs.Options, stream: Stream, folder: Path, size: Size) -> list[runs.Case]:
    return [
        *runs.streamlin(ours, stream, folder, start=True),
        *runs.vw(stream, folder, start=True),
        *(
            runs.Case(UNWRITTEN, name, partial(runs.run_vw, stream, None, f"-b {VW_BITS} {options}", True))
            for name, options in VW.items()
        ),
        runs.vw_conversion(stream, folder),
        *(case._replace(tool=API) for given in (TEXTS, MAPPINGS) for case in runs.api(stream, size.river, given)),
        *(case for given in (TEXTS, MAPPINGS) for case in runs.river(stream, size.river, given=given)),
        *runs.scikit_learn(stream, 1000, size.batches),
        *runs.scikit_learn(stream, 1, size.single),
    ]


def text(figures: list[dict[str, Any]]) -> str:
    """The ratios, then the rates that they come from."""
    events = figures[0]["runs"][0]["events"]
    shown = "\n\n".join(
        [
            f"Texts of 25 words, 4 labels, {events:,} events; the slow ones on the first of them, as many as shown. "
            "Own clock: streamlin's from the first read to the last write; VW's around its driver; the others' around "
            "the loop, texts already in memory. Start: the same for a run of one event, of a hundred for "
            "streamlin, which then loads numba and its compiled kernels. Median (least – greatest); a ratio is that of "
            "two runs of the same repetition.",
            ratio_table(figures),
            _rate_table(figures),
        ]
    )
    return marked("peers-speed", shown)


def _rate_table(figures: list[dict[str, Any]]) -> str:
    rows = [
        [
            *(row["tool"], row["name"], f"{row['runs'][0]['events']:,}"),
            *(spread([run["events"] / run[clock] for run in row["runs"]]) for clock in ("seconds", "process_seconds")),
            spread([run["start_seconds"] for run in row["runs"]], ".2f") if "start_seconds" in row["runs"][0] else "",
        ]
        for row in figures
    ]
    titles = ["tool", "configuration", "events", "events/s, own clock", "events/s, whole process", "start, s"]
    return f"{table(titles, rows, left=2)}\n\nscikit-learn in batches of 1,000 is not test-then-train."
