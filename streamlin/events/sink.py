"""The interfaces of sinks."""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamlin.events.records import Position, Records


@dataclass(frozen=True)
class SinkContext:
    """What the pipeline tells a sink when it opens it.

    options : the URL's query.
    length : the length in the checkpoint, to which the sink is cut; None on a fresh start.
    settings, notice : see `SourceContext`.
    """

    options: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    notice: Callable[[str], None] = print


class Sink(Protocol):
    """Where lines go. Constructed as `cls(address, context)`: the part after `scheme://`, and a `SinkContext`."""

    def write(self, lines: bytes | memoryview) -> None:
        """Append whole lines."""

    def flush(self) -> None:
        """Make everything written visible to readers."""

    def sync(self) -> int | None:
        """Make everything written durable; returns the length for `SinkContext.length`, or None."""

    def close(self) -> None: ...


class MessageSink(Sink, Protocol):
    """A sink of messages with keys and headers instead of lines; `write` is never called.

    commits : whether `sync_with` commits the positions for the source.
    """

    commits: bool

    def write_messages(self, lines: memoryview, bounds: NDArray[np.int64], keys: Sequence[str]) -> None:
        """Send n lines, each with its key; line i is `lines[bounds[i]:bounds[i + 1]]`, including its line feed."""

    def write_dead_letter(self, error: str, records: Records, number: int) -> None:
        """Send record `number` unchanged."""

    def sync_with(self, positions: Mapping[str, Position]) -> None:
        """`sync`; commits the source's positions in the same transaction, if the sink can."""

    def written(self) -> MutableMapping[str, int]:
        """Key of a part -> offset; the lines of all records before it were sent for good before this start.

        A part that begins anew, see `Records`, is removed from this mapping.
        """
