"""Helpers for tests of connectors: contexts, framings, reading to the end."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from connectors.files import FileSource
from streamlin.events import Framing, Position, Records, Source, SourceContext
from streamlin.formats.framing import Lines

SECONDS = 20


class HeaderLines(Lines):
    """Lines, the first of which is a header."""

    def __init__(self) -> None:
        super().__init__(header=True)


def context(
    *,
    options: Mapping[str, str] | None = None,
    framing: Framing | None = None,
    positions: Mapping[str, Position] | None = None,
    follow: bool = False,
    longest: int = 10_000_000,
    elsewhere: Sequence[tuple[str, Position]] = (),
    notice: Callable[[str], Any] = lambda line: None,
) -> SourceContext:
    return SourceContext(
        options or {}, framing or Lines(), positions or {}, follow, longest, notice, elsewhere=elsewhere
    )


def polled(source: Source, limit: int = 1000) -> list[Records]:
    """All records up to the end."""
    found: list[Records] = []
    while (some := source.poll(limit)) is not None:
        assert sum(map(len, some)) <= limit
        found += some
    assert source.poll(limit) is None
    return found


def payloads(found: list[Records]) -> list[bytes]:
    return [records[i] for records in found for i in range(len(records))]


def errors(found: list[Records]) -> list[str]:
    return [records.errors[i] for records in found for i in sorted(records.errors)]


def read_file(path: Any, limit: int = 1000, **kwargs: Any) -> list[Records]:
    source = FileSource(str(path), context(**kwargs))
    try:
        return polled(source, limit)
    finally:
        source.close()


def positions_after(found: list[Records], count: int) -> dict[str, Position]:
    """Every part's position after the first `count` records of all parts."""
    positions = {}
    for records in found:
        take = min(count, len(records))
        if take:
            positions[records.key] = records.position(take)
        count -= take
    return positions


def await_payloads(source: Source, count: int) -> list[bytes]:
    """The next `count` records of a source that follows."""
    found: list[bytes] = []
    deadline = time.monotonic() + SECONDS
    while len(found) < count:
        assert time.monotonic() < deadline, f"only {found} after {SECONDS} s"
        found += payloads(source.poll(count - len(found)) or [])
    return found


def await_notice(source: Source, notices: list[str], text: str) -> None:
    """Poll a source without records until it gives the notice."""
    deadline = time.monotonic() + SECONDS
    while not any(text in notice for notice in notices):
        assert time.monotonic() < deadline, f"no {text!r} in {notices}"
        assert source.poll(100) == []


def expected_lines(data: bytes) -> list[bytes]:
    """The lines by plain Python: split at line feeds, drop a carriage return and NULs before, skip empty lines."""
    return [line for line in (piece.removesuffix(b"\r").lstrip(b"\0") for piece in data.split(b"\n")) if line]
