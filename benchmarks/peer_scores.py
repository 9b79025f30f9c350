"""The case of every configuration on a stream, with its test-then-train score.

A score is `events`, `right`, and `test`: the same two on the test slice, if there is one.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import peer_runs as runs
from benchmarks.peer_runs import Case
from benchmarks.peer_streams import Stream, lengthened, raw, signed
from benchmarks.peer_tools import STREAMLIN_RAW, VW, VW_BINARY, VW_BITS, VW_LOGISTIC, VW_MANY_BITS
from benchmarks.processes import run_module

Scored = tuple[Case, Callable[[], dict[str, Any]]]
TOKENS, RAW = "streamlin", "streamlin, raw text"
VW18, VW24 = "VW", f"VW, {VW_MANY_BITS} bits"


def scored(
    chosen: runs.Options, stream: Stream, folder: Path, least_bytes: int, raw_options: Sequence[str]
) -> list[Scored]:
    """streamlin and VW. Speed is measured on the stream repeated to `least_bytes`, the score on the stream itself."""
    long, whole = lengthened(stream, least_bytes), raw(stream)
    found = [_streamlin(TOKENS, name, options, stream, long, folder) for name, options in chosen.items()]
    long_whole = lengthened(whole, least_bytes)
    for name, options in STREAMLIN_RAW.items():
        found.append(_streamlin(RAW, name, (*options, *raw_options), whole, long_whole, folder))
    for tool, bits in ((VW18, VW_BITS), (VW24, VW_MANY_BITS)):
        found += [_vw(tool, name, f"-b {bits} {options}", stream, long, folder) for name, options in VW.items()]
    if stream.labels == 2:
        minus = signed(stream, folder)
        options = f"-b {VW_BITS} {VW[VW_LOGISTIC]}"
        found.append(_vw(VW18, VW_BINARY, options, minus, lengthened(minus, least_bytes), folder))
    return found


def _streamlin(tool: str, name: str, options: Sequence[str], stream: Stream, long: Stream, folder: Path) -> Scored:
    case = Case(tool, name, partial(runs.run_streamlin, long, folder, options, True))
    return case, partial(_streamlin_score, stream, folder, options)


def _streamlin_score(stream: Stream, folder: Path, options: Sequence[str]) -> dict[str, Any]:
    """Counted from the prediction lines: with several learners that is the lead, not the best one afterwards."""
    runs.run_streamlin(stream, folder, options)
    _, counted = run_module("peer_events", str(stream.path), str(folder / "predictions.jsonl"))
    return dict(counted)


def _vw(tool: str, name: str, options: str, stream: Stream, long: Stream, folder: Path) -> Scored:
    case = Case(tool, name, partial(runs.run_vw, long, folder, options, True))
    return case, partial(vw_score, stream, options)


def vw_score(stream: Stream, options: str) -> dict[str, Any]:
    """Predict, then learn, one by one from Python."""
    command = (*stream.vw_options.split(), *options.split())
    _, counted = run_module("peer_vw", "score", str(stream.path), str(stream.vw), *command)
    return dict(counted)
