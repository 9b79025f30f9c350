"""Streams prepared for all tools alike."""

import shutil
from pathlib import Path
from typing import NamedTuple

from benchmarks.processes import run_module

_RAW = "raw.jsonl"


class Stream(NamedTuple):
    """Texts of tokens joined by blanks, as JSON lines and in VW's format.

    vw_first : the first event alone, in VW's format.
    vw_options : options of VW that depend on the labels.
    """

    path: Path
    vw: Path
    vw_first: Path
    events: int
    labels: int
    vw_options: str


def prepared(source: Path, folder: Path, tokens: str) -> Stream:
    """The stream as `peer_stream.py` prepares it, also converted for VW."""
    path = folder / "stream.jsonl"
    _, size = run_module("peer_stream", str(source), str(path), str(folder / _RAW), tokens)
    stream = Stream(path, path, path, size["events"], size["labels"], f"--oaa {size['labels']}")
    return _converted(stream, folder / "stream.vw", "codes")


def raw(stream: Stream) -> Stream:
    """The stream with its original texts, for streamlin."""
    return stream._replace(path=stream.path.with_name(_RAW))


def signed(stream: Stream, folder: Path) -> Stream:
    """A stream of two labels for VW's binary mode: labels -1 and 1, one model instead of two."""
    return _converted(stream._replace(vw_options="--binary"), folder / "signed.vw", "signs")


def lengthened(stream: Stream, least_bytes: int) -> Stream:
    """The same events repeated until there are enough to tell a tool's speed from its start."""
    times = -(-least_bytes // stream.path.stat().st_size)
    return stream._replace(
        path=_repeated(stream.path, times),
        vw=_repeated(stream.vw, times),
        events=times * stream.events,
    )


def _repeated(path: Path, times: int) -> Path:
    """The content of the file, `times` times, in a file beside it."""
    long = path.with_name(f"long-{path.name}")
    with long.open("wb") as target:
        for _ in range(times):
            with path.open("rb") as source:
                shutil.copyfileobj(source, target)
    return long


def _converted(stream: Stream, vw: Path, style: str) -> Stream:
    run_module("peer_vw", "convert", str(stream.path), str(vw), style)
    first = vw.with_suffix(".first")
    with vw.open("rb") as source:
        first.write_bytes(source.readline())
    return stream._replace(vw=vw, vw_first=first)
