"""Sending a source's events to a sink as they are, above all a file to a topic."""

import threading
from collections.abc import Callable
from contextlib import closing
from typing import NamedTuple

import numpy as np

from streamlin.config import RunConfig
from streamlin.errors import ConfigError, redacted
from streamlin.events import Batch, SinkContext
from streamlin.formats import open_format
from streamlin.formats.base import Format
from streamlin.registry import connector
from streamlin.streams.addresses import parse_address
from streamlin.streams.opening import open_source
from streamlin.streams.read_records import ReadRecords
from streamlin.streams.reader import Portion, Reader
from streamlin.streams.time_units import TimeUnits


class Produced(NamedTuple):
    """Messages sent, and records that can't become events; of a JSON source these are sent too, of others left out."""

    messages: int
    dead_letters: int


def produce(
    config: RunConfig, sink: str, limit: int | None, notice: Callable[[str], None], stop: threading.Event
) -> Produced:
    """Send every event of `config.source.url` as JSON, with its id as the key, at the pace of the source's options.

    Records of a JSON source are sent unchanged. Raises StreamlinError as a run does, also where nothing could be sent.
    """
    address, delayed_labels = parse_address(config.source.needed_url(), "stdin"), config.delayed_labels.enabled
    source, decoder, pace = open_source(address, config, {}, notice, stop, delayed_labels=delayed_labels)
    encode = None if decoder.name == "json" else open_format("json", {}, config.fields, ())
    with closing(Reader(source, decoder, lambda _: None, config.pipeline, limit, pace, stop)) as reader:
        target = parse_address(sink, "stdout")
        opened = connector("sinks", target.scheme)(
            target.address,
            SinkContext(target.options, settings=config.settings_of(target.scheme), notice=notice),
        )
        with closing(opened):
            messages, read, time_units = 0, ReadRecords(notice, decoder.advice), TimeUnits(notice)
            for portion in reader:
                if portion is None:
                    opened.flush()
                    continue
                messages += _send(portion, encode, opened)
                read.add(portion)
                time_units.observe(portion.batch)
            opened.sync()
    if not stop.is_set():
        read.end(redacted(config.source.needed_url()), nothing_before=not messages)
    return Produced(messages, read.dead_letters)


def _check_values(batch: Batch) -> None:
    """Raise ConfigError if words have values (VW's `word:2.5`), which the text of a JSON record can't hold."""
    if batch.values is not None and batch.pieces is not None:
        event = int(np.searchsorted(batch.pieces, np.flatnonzero(batch.values != 1.0)[0], side="right")) - 1
        where = batch.place(event)
        raise ConfigError(f"{where}: words with values, such as a:0.5, can't be sent as JSON")


def _send(portion: Portion, encode: Format | None, sink: object) -> int:
    """Send a portion; returns the number of messages."""
    records, batch = portion.records, portion.batch
    if encode is not None:
        _check_values(batch)
        lines, keys = [encode.encode(event) for event in batch.events()], batch.keys()
    else:
        own = dict(zip(batch.kept.tolist(), batch.keys(), strict=True))
        numbers = [i for i in range(portion.begin, portion.count) if i not in records.tombstones]
        lines, keys = [_one_line(records[i]) for i in numbers], [own.get(i) or records.name(i) for i in numbers]
    if not lines:
        return 0
    bounds = np.zeros(len(lines) + 1, np.int64)
    np.cumsum([len(line) + 1 for line in lines], out=bounds[1:])
    text = b"\n".join([*lines, b""])
    if hasattr(sink, "write_messages"):
        sink.write_messages(memoryview(text), bounds, keys)
    else:
        sink.write(text)  # type: ignore[attr-defined]
    return len(lines)


def _one_line(record: bytes) -> bytes:
    """A JSON record without line feeds, which are white space in it; messages may have some."""
    return record.strip().replace(b"\n", b" ") if b"\n" in record else record
