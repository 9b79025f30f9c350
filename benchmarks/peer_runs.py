"""Runs of every tool over one prepared stream, each in its own process, in turn and repeated."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.peer_streams import Stream
from benchmarks.peer_tools import RIVER, SCIKIT_LEARN, TEXTS, VW, VW_BITS, named
from benchmarks.processes import Finished, repetitions, reported, run_module

Options = Mapping[str, Sequence[str]]
"""Configurations of streamlin by name."""
Figures = dict[str, Any]
"""Of one run: `events`, `seconds` by the tool's own clock, `process_seconds` of the whole process, `peak_bytes`.

If wanted also `start_seconds`: a run of the first `start_events` alone, just before, by the tool's own clock.
"""
STARTING = 100
"""Events of streamlin's run that is taken for a start: too many for Python alone (`streamlin.kernel.late`), so numba is
imported."""


class Case(NamedTuple):
    """One configuration of a tool. once : do not repeat it, since it takes long."""

    tool: str
    name: str
    run: Callable[[], Figures]
    once: bool = False


def repeated(cases: Sequence[Case], repeat: int) -> list[Figures]:
    """One row per case. All cases run in turn, then all again, so that disturbances of the machine affect all alike."""
    rows: list[Figures] = [{"tool": case.tool, "name": case.name, "runs": []} for case in cases]
    for number in repetitions(repeat):
        for case, row in zip(cases, rows, strict=True):
            if number == 0 or not case.once:
                row["runs"].append(case.run())
    return rows


def streamlin(chosen: Options, stream: Stream, folder: Path, start: bool = False) -> list[Case]:
    """`streamlin run` on JSON lines, with predictions written."""
    return [
        Case("streamlin", name, partial(run_streamlin, stream, folder, options, start))
        for name, options in chosen.items()
    ]


def vw(stream: Stream, folder: Path, start: bool = False) -> list[Case]:
    """VW's driver on its own format, with predictions written."""
    return [
        Case("VW", name, partial(run_vw, stream, folder, f"-b {VW_BITS} {options}", start))
        for name, options in VW.items()
    ]


def vw_conversion(stream: Stream, folder: Path) -> Case:
    """Conversion of JSON lines to VW's format."""
    command = ("convert", str(stream.path), str(folder / "again.vw"), "codes")
    return Case("VW", "convert JSON lines", partial(_asked, stream.events, "peer_vw", *command))


def river(stream: Stream, limit: int | None = None, once: bool = False, given: str = TEXTS) -> list[Case]:
    """Cases over the first `limit` events."""
    events = min(limit or stream.events, stream.events)
    of = (str(stream.path), str(events), given)
    return [
        Case("river", named(name, given), partial(_asked, events, "peer_river", name, *of), once)
        for name in RIVER.values()
    ]


def scikit_learn(stream: Stream, batch: int, limit: int | None = None, once: bool = False) -> list[Case]:
    """Cases over the first `limit` events."""
    events = min(limit or stream.events, stream.events)
    of = (str(batch), str(stream.path), str(events))
    return [
        Case(
            "scikit-learn",
            f"{name}, batches of {batch:,}",
            partial(_asked, events, "peer_scikit_learn", name, *of),
            once,
        )
        for name in SCIKIT_LEARN
    ]


def api(stream: Stream, limit: int, given: str) -> list[Case]:
    """streamlin's `predict_one` then `learn_one`, for the learners that river has too."""
    events = min(limit, stream.events)
    of = (str(stream.path), str(events), given)
    return [
        Case("streamlin, Python", named(kind, given), partial(_asked, events, "peer_api", kind, *of)) for kind in RIVER
    ]


def run_streamlin(stream: Stream, folder: Path, options: Sequence[str], start: bool = False) -> Figures:
    predictions = f"{folder}/predictions.jsonl?mode=overwrite"
    command = (str(stream.path), "--predictions", predictions, *options)
    first = _started(STARTING, reported(folder, *command, "--limit", str(STARTING))[1]) if start else {}
    finished, report = reported(folder, *command)
    return _figures(report["events"], report["seconds"], finished) | first


def run_vw(stream: Stream, folder: Path | None, options: str, start: bool = False) -> Figures:
    """folder : where predictions are written; None: they are not."""
    more = (str(folder / "predictions.txt") if folder else "-", *stream.vw_options.split(), *options.split())
    first = _started(1, run_module("peer_vw", "drive", str(stream.vw_first), *more)[1]) if start else {}
    return _asked(stream.events, "peer_vw", "drive", str(stream.vw), *more) | first


def _started(events: int, answer: Figures) -> Figures:
    return {"start_events": events, "start_seconds": answer["seconds"]}


def _asked(events: int, module: str, *arguments: str) -> Figures:
    """Figures from the answer of a module: its seconds, and the score if it gives one."""
    finished, answer = run_module(module, *arguments)
    figures = _figures(events, answer.pop("seconds"), finished)
    return figures | ({"score": answer} if answer else {})


def _figures(events: int, seconds: float, finished: Finished) -> Figures:
    return {
        "events": events,
        "seconds": seconds,
        "process_seconds": finished.seconds,
        "peak_bytes": finished.peak_bytes,
    }
