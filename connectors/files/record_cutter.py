"""Cutting a stream of bytes into records, whatever the blocks it comes in."""

import numpy as np
from numpy.typing import NDArray

from connectors.files.oversized import SHOWN, Oversized
from connectors.records import FINGERPRINT, Origin, PartRecords
from streamlin.events import Framing

Indices = NDArray[np.int64]


class Cutter:
    """Blocks of bytes in, columns of records out; the records do not depend on the blocks.

    Parameters
    ----------
    offset, before : where the bytes begin in their part, and the up to `FINGERPRINT` bytes before that.
    header : the part's header, read before; at offset 0, with `framing.header`, the first record becomes it.

    Attributes
    ----------
    header_due : whether the first record, which is the header, is still to come. One that is too long is none.
    pending : bytes of an unfinished record that are held.
    """

    def __init__(
        self,
        origin: Origin,
        framing: Framing,
        max_record_bytes: int,
        offset: int = 0,
        before: bytes = b"",
        header: bytes | None = None,
    ) -> None:
        self._origin, self._framing, self._longest = origin, framing, max_record_bytes
        self._offset, self._before = offset, before
        self.header = header
        self.header_due = framing.header and not offset
        self._unfinished: list[bytes] = []
        self.pending = 0
        self._oversized: Oversized | None = None

    def feed(self, block: bytes, final: bool = False) -> list[PartRecords]:
        """Records that are complete once `block` is there; with `final` nothing follows, and nothing is left over.

        All framings end a record at a line feed, so that a block without one is only put aside.
        """
        if self._oversized is not None:
            return self._pass_over(self._oversized, block, final)
        self._unfinished.append(block)
        self.pending += len(block)
        if not self.pending or not (final or b"\n" in block or self._too_long(self.pending)):
            return []
        return self._cut(b"".join(self._unfinished), final)

    def finish(self) -> list[PartRecords]:
        """Nothing follows: an unfinished record is one."""
        return self.feed(b"", final=True)

    def break_off(self, error: str, damaged: int) -> list[PartRecords]:
        """Nothing that can be read follows: what is unfinished, maybe nothing, becomes one record with this error.

        Its position stays at its beginning, and says how many good bytes there are: `damaged`.
        """
        data = b"".join(self._unfinished) if self._oversized is None else self._oversized.head
        self._unfinished, self.pending, self._oversized = [], 0, None
        return [self._single(data[:SHOWN], error, self._offset, self._offset, self._before, damaged)]

    def _too_long(self, unfinished: int) -> bool:
        return unfinished > self._longest + 1  # the last byte may be half a line end

    def _cut(self, data: bytes, final: bool) -> list[PartRecords]:
        starts, ends, consumed = self._framing(data, final)
        records = self._records(data, starts, ends, consumed)
        self._offset += consumed
        self._before = (self._before + data[max(0, consumed - FINGERPRINT) : consumed])[-FINGERPRINT:]
        rest = data[consumed:]
        if self._too_long(len(rest)):
            self._oversized, rest = Oversized(self._framing, rest, self._before), b""
        self._unfinished, self.pending = [rest] if rest else [], len(rest)
        return [records] if len(records) else []

    def _records(self, data: bytes, starts: Indices, ends: Indices, consumed: int) -> PartRecords:
        ends, errors = self._cut_to_size(starts, ends)
        records = PartRecords(
            data,
            starts,
            ends,
            offsets=starts + self._offset,
            nexts=np.append(starts, consumed)[1:] + self._offset,
            part=self._origin.part,
            header=self.header,
            errors=errors,
            key=self._origin.key,
            identity=self._origin.identity,
            base=self._offset,
            previous=self._before,
        )
        return self._without_header(records)

    def _cut_to_size(self, starts: Indices, ends: Indices) -> tuple[Indices, dict[int, str]]:
        lengths = ends - starts
        too_long = np.flatnonzero(lengths > self._longest)
        if not too_long.size:
            return ends, {}
        ends = ends.copy()
        ends[too_long] = np.minimum(ends[too_long], starts[too_long] + SHOWN)
        return ends, {i: self._length_error(int(lengths[i])) for i in too_long.tolist()}

    def _length_error(self, length: int) -> str:
        return f"record of {length} bytes is over max_record_bytes = {self._longest}"

    def _without_header(self, records: PartRecords) -> PartRecords:
        if not self.header_due or not len(records):
            return records
        self.header_due = False
        if 0 in records.errors:
            return records
        records.header = self.header = records[0]
        return records.between(1, len(records))

    def _pass_over(self, record: Oversized, block: bytes, final: bool) -> list[PartRecords]:
        rest = record.feed(block, final)
        if rest is None:
            return []
        begin, end = self._offset, self._offset + record.total
        self.header_due = False
        found = self._single(record.head, self._length_error(record.length), begin, end, record.before)
        self._offset, self._before, self._oversized = end, record.before, None
        return [found, *self.feed(rest, final)]

    def _single(
        self, shown: bytes, error: str, offset: int, following: int, before: bytes, damaged: int | None = None
    ) -> PartRecords:
        """One bad record; `before` are the bytes before what follows it."""
        data = shown + before
        return PartRecords(
            data,
            starts=np.zeros(1, np.int64),
            ends=np.array([len(shown)]),
            offsets=np.array([offset]),
            nexts=np.array([following]),
            part=self._origin.part,
            header=self.header,
            errors={0: error},
            key=self._origin.key,
            identity=self._origin.identity,
            base=following - len(data),
            damaged=damaged,
        )
