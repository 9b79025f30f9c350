"""What sources and sinks need of a Kafka client: two implement it, `opening.py` chooses."""

import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from connectors.kafka.messages import Headers, Messages
from streamlin.errors import ConnectorError

Part = tuple[str, int]
"""Topic and partition."""
TOO_LARGE = "is over the topic's max.message.bytes, or over the client's own limit"
"""What is said of a message."""
_CONNECT_SECONDS = 2.0


class UnreachableError(ConnectorError):
    """No broker answers at the moment."""

    retriable = True


class RebalancingError(UnreachableError):
    """The group is being distributed anew, and takes no commit for a moment."""


class OffsetGoneError(Exception):
    """The record at a partition's position can't be had: gone, or not there any more."""


class Extent(NamedTuple):
    """Offsets: of the oldest record that is kept, and behind the last one."""

    low: int
    high: int


class Rebalance(Protocol):
    """Told about changes of the group's assignment, on the thread that polls."""

    def assigned(self, parts: Sequence[Part]) -> Mapping[Part, int]:
        """Offsets at which to begin."""

    def revoked(self, parts: Sequence[Part]) -> None:
        """They are another member's once this returns."""

    def lost(self, parts: Sequence[Part]) -> None:
        """They are another member's already."""


class Consumer(Protocol):
    """Reads messages; used by one thread at a time.

    All methods raise UnreachableError where no broker answers, ConnectorError where it is no use to try again.
    """

    def partitions(self, topic: str) -> list[int]:
        """Of a topic, in order; none where it does not exist."""

    def topic_id(self, topic: str) -> str | None:
        """A deleted topic's successor has another one; None where brokers give none."""

    def extents(self, parts: Sequence[Part]) -> dict[Part, Extent]:
        """Asked of the brokers."""

    def offsets_at(self, parts: Sequence[Part], time_ms: int) -> dict[Part, int]:
        """Of the first message from that time on; where there is none, the end."""

    def committed(self, parts: Sequence[Part]) -> dict[Part, int]:
        """What the group has committed, where it has."""

    def assign(self, offsets: Mapping[Part, int]) -> None:
        """Read these partitions, no others, from these offsets on; of a group's, go on there with these."""

    def subscribe(self, topics: Sequence[str], rebalance: Rebalance) -> None:
        """Read what the group assigns."""

    def poll(self, limit: int, seconds: float) -> list[Messages]:
        """What has come, about `limit` messages, as one or more pieces; waits if there are none.

        Raises OffsetGoneError.
        """

    def tend(self) -> None:
        """Stay a member of the group, for a caller who has enough messages for now; called instead of `poll`."""

    def positions(self, parts: Sequence[Part]) -> dict[Part, int]:
        """Where reading goes on: behind the last message, and behind what is none (a transaction's marker)."""

    def highs(self) -> dict[Part, int]:
        """Ends of the partitions that are read, as the last answers had them."""

    def commit_soon(self, positions: Mapping[Part, Mapping[str, Any]], metadata: str) -> None:
        """Have `offset`s, with `leader_epoch` where there is one, committed for the group, before it gets parts back.

        Whether that succeeds is not heard of.
        """

    def commit(self, positions: Mapping[Part, Mapping[str, Any]], metadata: str) -> None:
        """Commit them, for good and even while the group is being distributed anew: the last thing before `close`."""

    def close(self, seconds: float) -> None:
        """Leave the group and close, within so many seconds even where no broker answers."""


class Producer(Protocol):
    """Sends messages; used by one thread at a time. Raises as a Consumer does.

    Where it waits for brokers, a Contact hears whether they answer, and says when that is in vain.
    """

    def send(self, topic: str, keys: Sequence[str], lines: memoryview, bounds: NDArray[np.int64]) -> None:
        """Hand over messages, to be sent soon and in order: line i is `lines[bounds[i]:bounds[i + 1] - 1]`."""

    def send_one(self, topic: str, key: bytes | None, value: bytes | None, headers: Headers) -> None:
        """Hand over a message with headers."""

    def flush(self) -> None:
        """Return when all that was handed over is acknowledged by all replicas in sync."""

    def serve(self) -> None:
        """Raise what went wrong since; called now and then."""

    def group_offsets(self, group: str) -> dict[Part, int]:
        """What a group has committed."""

    def begin(self) -> None:
        """Begin a transaction."""

    def commit(self, group: str, positions: Mapping[Part, int]) -> None:
        """Commit the transaction, a group's offsets with it."""

    def close(self) -> None: ...


class Connection(NamedTuple):
    """How to reach the brokers.

    settings : `[kafka]` of the configuration, secrets as texts.
    longest : bytes of the longest message that is taken.
    """

    servers: tuple[str, ...]
    settings: Mapping[str, Any]
    notice: Callable[[str], None]
    longest: int = 0

    @property
    def name(self) -> str:
        """For people."""
        return ",".join(self.servers)

    def warn(self) -> None:
        """Say it where nobody looks who answers."""
        if not self.settings.get("ssl_verify", True):
            self.notice("kafka.ssl_verify is false: whoever answers is taken for the broker")

    def silent(self) -> UnreachableError:
        """What is said where somebody listens, but nobody answers: a listener hangs up on who speaks otherwise."""
        protocol = self.settings.get("security_protocol", "PLAINTEXT")
        return UnreachableError(
            f"the brokers at {self.name} don't answer; is kafka.security_protocol = {protocol} right?"
        )


def check_listening(servers: Sequence[str]) -> None:
    """Raise UnreachableError where none of the servers takes a connection; quicker than the client, and says why."""
    reason: OSError | None = None
    for server in servers:
        host, _, port = server.rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS):
                return
        except OSError as error:
            reason = error
    said = getattr(reason, "strerror", None) or reason
    raise UnreachableError(f"no broker at {', '.join(servers)}: {said}")
