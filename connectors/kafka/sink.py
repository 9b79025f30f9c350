"""`kafka://host:port/topic` as a sink: predictions by id, dead letters as they came."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from connectors.kafka.address import parse_address
from connectors.kafka.client import Part, Producer
from connectors.kafka.connection import Connection
from connectors.kafka.messages import CUT, Headers, Messages
from connectors.kafka.opening import open_producer
from connectors.kafka.options import sink_options
from streamlin.errors import ConfigError, ConnectorError
from streamlin.events import Position, Records, SinkContext

_PAUSE = 0.2
_OURS = "streamlin."
_OWN = {_OURS + name for name in ("error", "position", "topic", "partition", "offset", "truncated", "failures")}
_LARGEST = 990_000
"""Bytes of a dead letter, with key and headers, that clients and brokers accept by default."""


class KafkaSink:
    """Messages to a topic, acknowledged by all replicas in sync before a checkpoint is written. See `MessageSink`.

    Options: see `connectors.kafka.options.SinkOptions` and docs/connectors.md.

    Raises
    ------
    ConfigError : an option; more than one topic; the client's package is missing.
    ConnectorError : no broker answers in time, or it refuses.
    """

    def __init__(self, address: str, context: SinkContext) -> None:
        parsed, self._options = parse_address(address), sink_options(context.options)
        if len(parsed.topics) > 1:
            raise ConfigError(f"kafka sink: expected one topic, got {' and '.join(parsed.topics)}")
        self._topic = parsed.topics[0]
        connection = Connection(parsed.servers, context.settings, context.notice)
        self._contact = contact = connection.contact()
        self._producer = contact.retry(
            lambda: open_producer(connection, self._options, contact.patience(), contact), _PAUSE
        )
        self._in_transaction = False
        self._written: dict[str, int] = {}

    @property
    def commits(self) -> bool:
        """See `streamlin.events.MessageSink`."""
        return self._options.group is not None

    def write(self, lines: bytes | memoryview) -> None:
        """Each line a message without key."""
        for line in bytes(lines).splitlines():
            self._begun().send_one(self._topic, None, line, ())

    def write_messages(self, lines: memoryview, bounds: NDArray[np.int64], keys: Sequence[str]) -> None:
        """Each line a message, its id the key."""
        self._begun().send(self._topic, keys, lines, bounds)

    def write_dead_letter(self, error: str, records: Records, number: int) -> None:
        """The message as it was, with headers for its error and its position."""
        key, value, headers = records.raw(number) if isinstance(records, Messages) else (None, records[number], ())
        named: dict[str, object] = {"error": error, "position": records.name(number)}
        if isinstance(records, Messages):
            named |= {"topic": records.topic, "partition": records.partition, "offset": records.offsets[number]}
        headers, own = _once(headers, {_OURS + name: str(value).encode() for name, value in named.items()})
        cut = number in records.errors and len(value or b"") == CUT  # by the source
        if _size(key, headers) > _LARGEST - CUT:  # they alone are too large
            key, headers, cut = None if key is None else key[:CUT], (), True
        if cut or len(value or b"") + _size(key, headers) > _LARGEST:
            value = None if value is None else value[:CUT]
            own[_OURS + "truncated"] = b"true"
        self._begun().send_one(self._topic, key, value, [*headers, *own.items()])

    def flush(self) -> None:
        """Nothing is held back for longer than `linger_ms`."""
        self._producer.serve()

    def sync(self) -> None:
        """Wait until all messages are acknowledged."""
        self.sync_with({})

    def sync_with(self, positions: Mapping[str, Position]) -> None:
        """Wait until all messages are acknowledged; with `transactional` commit them and the group's offsets."""
        if self._options.group is not None:
            if self._in_transaction or positions:
                offsets = {_part(key): self._offset(key, position) for key, position in positions.items()}
                self._begun().commit(self._options.group, offsets)
                self._in_transaction = False
            return
        self._producer.flush()

    def written(self) -> dict[str, int]:
        """The offsets in the last transaction: the lines of the records before them are committed."""
        group = self._options.group
        if group is None:
            return self._written
        offsets = self._contact.retry(lambda: self._producer.group_offsets(group), _PAUSE)
        self._written = {f"{topic}/{partition}": offset for (topic, partition), offset in offsets.items()}
        return self._written

    def close(self) -> None:
        """Close the connections; what is not acknowledged may be lost, and is sent again after a resume."""
        self._producer.close()

    def _offset(self, key: str, position: Position) -> int:
        """The offset to commit: if it went back, as reading does after a crash, lines would be sent twice."""
        return max(int(position["offset"]), self._written.get(key, 0))

    def _begun(self) -> Producer:
        if self._options.transactional is not None and not self._in_transaction:
            self._producer.begin()
            self._in_transaction = True
        return self._producer


def _once(headers: Headers, own: dict[str, bytes | None]) -> tuple[Headers, dict[str, bytes | None]]:
    """Headers without those of an earlier failure, and `own`: then the first position, the last error, a count."""
    before = {name: value for name, value in headers if name in _OWN}
    if _OURS + "error" not in before:
        return headers, own
    count = before.get(_OURS + "failures") or b"1"
    failures = b"%d" % (int(count) + 1 if count.isdigit() else 2)
    last = {_OURS + "error": own[_OURS + "error"], _OURS + "failures": failures}
    return [header for header in headers if header[0] not in _OWN], before | last


def _size(key: bytes | None, headers: Headers) -> int:
    return len(key or b"") + sum(len(name.encode()) + len(value or b"") for name, value in headers)


def _part(key: str) -> Part:
    topic, _, partition = key.rpartition("/")
    if not partition.isdigit():
        raise ConnectorError(f"kafka sink: transactional= needs a Kafka source; '{key}' is not a partition")
    return topic, int(partition)
