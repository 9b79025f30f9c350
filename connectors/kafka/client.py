"""What sources and sinks need of a Kafka client: two packages implement it, `opening.py` chooses."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from connectors.kafka.messages import Headers, Messages

Part = tuple[str, int]
"""Topic and partition."""
TOPICS_LIMIT = "the topic's max.message.bytes"


def too_large(topic: str, partition: int | None, value: bytes | None, limit: str) -> str:
    """What is wrong with a message; `limit` is what it is over."""
    where = f"topic '{topic}'" if partition is None else f"topic '{topic}', partition {partition}"
    return f"its value of {len(value or b''):,} bytes for {where} is, with key and headers, over {limit}"


class Extent(NamedTuple):
    """Offsets of a partition: of its oldest record, and the one after its last record."""

    low: int
    high: int


class Rebalance(Protocol):
    """Learns of changes of the group's assignment, on the thread that polls."""

    def assigned(self, parts: Sequence[Part]) -> Mapping[Part, int]:
        """Offsets at which to begin."""

    def revoked(self, parts: Sequence[Part]) -> None:
        """These partitions belong to another member once this returns."""

    def lost(self, parts: Sequence[Part]) -> None:
        """These partitions belong to another member already."""


class Consumer(Protocol):
    """Reads messages; used by one thread at a time.

    All methods raise UnreachableError when no broker answers, ConnectorError when trying again cannot help.
    """

    def partitions(self, topic: str) -> list[int]:
        """Of a topic, in order; empty if the topic does not exist."""

    def topic_id(self, topic: str) -> str | None:
        """The topic's id, which a topic made anew under its name does not share; None if the brokers have no ids."""

    def extents(self, parts: Sequence[Part]) -> dict[Part, Extent]:
        """Asks the brokers."""

    def offsets_at(self, parts: Sequence[Part], time_ms: int) -> dict[Part, int]:
        """Of the first message from that time on; if there is no such message, the end."""

    def committed(self, parts: Sequence[Part]) -> dict[Part, int]:
        """The group's committed offsets, of the partitions that have one."""

    def assign(self, offsets: Mapping[Part, int]) -> None:
        """Read these partitions, no others, from these offsets; in a group, continue its partitions from these."""

    def subscribe(self, topics: Sequence[str], rebalance: Rebalance) -> None:
        """Read the partitions that the group assigns."""

    def poll(self, limit: int, seconds: float) -> list[Messages]:
        """At most `limit` messages, one piece a partition; waits if none have come. Raises OffsetGoneError."""

    def positions(self, parts: Sequence[Part]) -> dict[Part, int]:
        """Where reading continues: after the last message, and after markers of transactions."""

    def log_ends(self, parts: Sequence[Part]) -> dict[Part, int]:
        """Asks the brokers for the ends behind open transactions; those of `extents` are before these."""

    def highs(self) -> dict[Part, int]:
        """Ends of the partitions that are read, as in `log_ends`, as of the brokers' last answers."""

    def commit_soon(self, positions: Mapping[Part, Mapping[str, Any]], metadata: str) -> None:
        """Commit each `offset`, with its `leader_epoch` if there is one, without waiting for the result.

        The commit reaches the brokers before the group learns that partitions are given back.
        """

    def commit(self, positions: Mapping[Part, Mapping[str, Any]], metadata: str) -> None:
        """Commit, and wait for the result: the last call before `close`. Raises RebalancingError."""

    def close(self, seconds: float) -> None:
        """Leave the group and close, within so many seconds even if no broker answers."""


class Producer(Protocol):
    """Sends messages; used by one thread at a time. Raises as a Consumer does.

    While it waits for brokers, it reports to a Contact whether they answer; the Contact ends the waiting.
    """

    def send(self, topic: str, keys: Sequence[str], lines: memoryview, bounds: NDArray[np.int64]) -> None:
        """Hand over messages, to be sent soon and in order: line i is `lines[bounds[i]:bounds[i + 1] - 1]`."""

    def send_one(self, topic: str, key: bytes | None, value: bytes | None, headers: Headers) -> None:
        """Hand over a message with headers."""

    def flush(self) -> None:
        """Return when all replicas in sync have acknowledged every message."""

    def serve(self) -> None:
        """Raise an error of a message that was handed over; called now and then."""

    def group_offsets(self, group: str) -> dict[Part, int]:
        """The offsets that a group has committed."""

    def begin(self) -> None:
        """Begin a transaction."""

    def commit(self, group: str, positions: Mapping[Part, int]) -> None:
        """Commit the transaction, including a group's offsets."""

    def close(self) -> None: ...
