"""Framing and decoding of bytes, as done by a source and the pipeline."""

from collections.abc import Mapping, Sequence

import numpy as np

from streamlin.config import FieldsConfig
from streamlin.events import DeadLetter, Event, Records
from streamlin.formats import open_format
from streamlin.formats.base import Format


def opened(name: str, extra: Sequence[str] = (), options: Mapping[str, str] | None = None, **fields: object) -> Format:
    """A format with the given `fields`."""
    return open_format(name, options or {}, FieldsConfig(**fields), extra)


def framed(format_: Format, data: bytes, part: str = "part") -> Records:
    """The records of a whole part."""
    starts, ends, consumed = format_.framing(data, True)
    assert consumed == len(data)
    header = None
    if format_.framing.header and starts.size:
        header, starts, ends = data[starts[0] : ends[0]], starts[1:], ends[1:]
    return Records(data, starts, ends, starts, np.append(starts[1:], len(data))[: starts.size], part, header)


def read(format_: Format, data: bytes) -> tuple[list[Event], list[DeadLetter]]:
    """Events and dead letters of a whole part."""
    batch, dead = format_.decode(framed(format_, data))
    return batch.events(), dead


def events(format_: Format, data: bytes) -> list[Event]:
    """The events of a part that is all good."""
    good, dead = read(format_, data)
    assert dead == []
    return good


def error(format_: Format, record: bytes) -> str:
    """The error of a part's only record."""
    good, dead = read(format_, record)
    assert good == []
    assert [letter.record for letter in dead] == [0]
    return dead[0].error


def one_by_one(format_: Format, records: Records) -> tuple[list[Event], list[DeadLetter]]:
    """The same as decoding `records` at once, if all is well."""
    good: list[Event] = []
    bad: list[DeadLetter] = []
    for i in range(len(records)):
        batch, dead = format_.decode(part_of(records, i, i + 1))
        good += batch.events()
        bad += [DeadLetter(i, letter.error) for letter in dead]
    return good, bad


def part_of(records: Records, begin: int, end: int) -> Records:
    """Records `begin` to `end` of `records`."""
    kept = slice(begin, end)
    errors = {i - begin: text for i, text in records.errors.items() if begin <= i < end}
    return Records(
        records.data,
        records.starts[kept],
        records.ends[kept],
        records.offsets[kept],
        records.nexts[kept],
        records.part,
        records.header,
        errors,
    )
