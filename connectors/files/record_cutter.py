"""Cuts a stream of bytes into records, independently of the blocks it arrives in."""

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from connectors.files.first_bytes import LEAST, check_is_text, check_line_ends
from connectors.files.oversized_record import KEPT_BYTES, OversizedRecord
from connectors.files.read_over import Counted
from connectors.records import FINGERPRINT, Origin, PartRecords
from streamlin.events import Framing, behind_marks

Indices = NDArray[np.int64]

_SEPARATOR = re.compile(rb"sep=.|\"sep=.\"", re.IGNORECASE)
"""Excel's first line, which names the delimiter; it is not the header."""


class RecordCutter:
    """Turns blocks of bytes into columns of records; the records do not depend on the blocks.

    Parameters
    ----------
    offset, before : where the bytes begin in their part, and up to `FINGERPRINT` bytes before that.
    header : the part's header, if it was read before; at offset 0, with `framing.header`, it is the first record.
    notice : is told of what is read over.

    Attributes
    ----------
    offset, before : where the next record begins, and up to `FINGERPRINT` bytes before that.
    header_due : whether the next record is the header. A record that is too long is not used as header.
    pending_bytes : the number of bytes of an incomplete record.

    Raises
    ------
    ConnectorError : by the methods that return records: the first bytes are no text in UTF-8.
    """

    def __init__(
        self,
        origin: Origin,
        framing: Framing,
        max_record_bytes: int,
        offset: int = 0,
        before: bytes = b"",
        header: bytes | None = None,
        notice: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._origin, self._framing, self._longest = origin, framing, max_record_bytes
        self.offset, self.before = offset, before
        self.header = header
        self.header_due = framing.header and not offset
        self._unfinished: list[bytes] = []
        self.pending_bytes = 0
        self._oversized: OversizedRecord | None = None
        self._checked = False
        self._notice, self._remarked = notice, False
        self._headers = Counted(origin.part, "rows that are the header again were", notice)
        self._nuls = Counted(origin.part, "NUL bytes before a record were", notice)

    def feed(self, block: bytes, final: bool = False) -> list[PartRecords]:
        """The records that `block` completes; with `final`, nothing follows and the rest is a record too.

        All framings end a record at a line feed, so a block without one is only stored.
        """
        if self._oversized is not None:
            return self._skip(self._oversized, block, final)
        if not self._unfinished and self._checked:
            block = self._behind_nuls(block)
        self._unfinished.append(block)
        self.pending_bytes += len(block)
        if not self._checked and self.pending_bytes >= LEAST:  # a followed file may wait long for its first line end
            self._check(b"".join(self._unfinished), final)
        if not self.pending_bytes or not (final or b"\n" in block or self._too_long(self.pending_bytes)):
            return []
        return self._cut(b"".join(self._unfinished), final)

    def finish(self) -> list[PartRecords]:
        """The stream ends here: an incomplete record is one too."""
        records = self.feed(b"", final=True)
        self._nuls.finish()
        self._headers.finish()
        return records

    def break_off(self, error: str, damaged: int) -> list[PartRecords]:
        """The rest can't be read: an incomplete record, even an empty one, becomes a record with this error.

        Its position is at its beginning and includes `damaged`, the number of good bytes.
        """
        data = b"".join(self._unfinished) if self._oversized is None else self._oversized.head
        self._unfinished, self.pending_bytes, self._oversized = [], 0, None
        return [self._single(data[:KEPT_BYTES], error, self.offset, self.offset, self.before, damaged)]

    def _check(self, data: bytes, final: bool) -> None:
        check_is_text(data, self._origin.part)
        if not self.offset:
            check_line_ends(data, self._origin.part, final)

    def _too_long(self, unfinished: int) -> bool:
        return unfinished > self._longest + 1  # the last byte may be the carriage return of a line end

    def _cut(self, data: bytes, final: bool) -> list[PartRecords]:
        if not self._checked:
            self._check(data, final)
            self._checked = len(data) >= LEAST
        starts, ends, consumed = self._framing(data, final)
        self._remark(data, starts, consumed)
        records = self._records(data, starts, ends, consumed)
        records.unended = final and not data.endswith(b"\n")
        self.offset += consumed
        self.before = (self.before + data[max(0, consumed - FINGERPRINT) : consumed])[-FINGERPRINT:]
        rest = self._behind_nuls(data[consumed:])
        if self._too_long(len(rest)):
            framing = getattr(self._framing, "single", self._framing)
            self._oversized, rest = OversizedRecord(framing, rest, self.before), b""
        self._unfinished, self.pending_bytes = [rest] if rest else [], len(rest)
        return [records] if len(records) else []

    def _remark(self, data: bytes, starts: Indices, consumed: int) -> None:
        """Tell what the framing finds strange, once for a part."""
        remark = getattr(self._framing, "remark", None)
        found = None if remark is None or self._remarked else remark(data, starts, consumed)
        if found is not None:
            self._remarked = True
            self._notice(f"{self._origin.part}:{self.offset + found[0]}: {found[1]}")

    def _records(self, data: bytes, starts: Indices, ends: Indices, consumed: int) -> PartRecords:
        nexts = np.append(starts, consumed)[1:] + self.offset
        starts, nuls = behind_marks(data, starts, ends)
        filled = starts < ends
        if not filled.all():
            starts, ends, nexts = starts[filled], ends[filled], nexts[filled]
        if nuls:
            self._nuls.add(nuls)
            self._nuls.tell()
        ends, errors = self._shortened(starts, ends)
        records = PartRecords(
            data,
            starts,
            ends,
            offsets=starts + self.offset,
            nexts=nexts,
            part=self._origin.part,
            header=self.header,
            errors=errors,
            key=self._origin.key,
            identity=self._origin.identity,
            base=self.offset,
            previous=self.before,
        )
        return self._without_header(records)

    def _behind_nuls(self, data: bytes) -> bytes:
        """What is left of bytes that begin with a record; NULs before it are not kept, however many they are."""
        if not data.startswith(b"\0"):
            if data:
                self._nuls.tell()
            return data
        bare = data.lstrip(b"\0")
        nuls = len(data) - len(bare)
        self.offset += nuls
        self.before = (self.before + data[max(0, nuls - FINGERPRINT) : nuls])[-FINGERPRINT:]
        self._nuls.add(nuls)
        if bare:
            self._nuls.tell()
        return bare

    def _shortened(self, starts: Indices, ends: Indices) -> tuple[Indices, dict[int, str]]:
        lengths = ends - starts
        too_long = np.flatnonzero(lengths > self._longest)
        if not too_long.size:
            return ends, {}
        ends = ends.copy()
        ends[too_long] = np.minimum(ends[too_long], starts[too_long] + KEPT_BYTES)
        return ends, {i: self._length_error(int(lengths[i])) for i in too_long.tolist()}

    def _length_error(self, length: int) -> str:
        return f"record of {length} bytes is over max_record_bytes = {self._longest}"

    def _without_header(self, records: PartRecords) -> PartRecords:
        if self.header_due and len(records) and _SEPARATOR.fullmatch(records[0]):
            records = records.between(1, len(records))
        if not self.header_due or not len(records):
            return self._without_repeated(records)
        self.header_due = False
        if 0 in records.errors:
            return records
        records.header = self.header = records[0]
        return self._without_repeated(records.between(1, len(records)))

    def _without_repeated(self, records: PartRecords) -> PartRecords:
        """Without the rows that are the header again, as in files that were joined."""
        header = self.header
        if not header or not self._framing.header or header not in records.data:
            return records
        same = np.flatnonzero(records.ends - records.starts == len(header)).tolist()
        again = [i for i in same if records[i] == header]
        if not again:
            return records
        self._headers.add(len(again))
        self._headers.tell()
        return records.without(again)

    def _skip(self, record: OversizedRecord, block: bytes, final: bool) -> list[PartRecords]:
        rest = record.feed(block, final)
        if rest is None:
            return []
        begin, end = self.offset, self.offset + record.total
        self.header_due = False
        skipped = self._single(record.head, self._length_error(record.length), begin, end, record.before)
        self.offset, self.before, self._oversized = end, record.before, None
        return [skipped, *self.feed(rest, final)]

    def _single(
        self, head: bytes, error: str, offset: int, following: int, before: bytes, damaged: int | None = None
    ) -> PartRecords:
        """One bad record; `before` are the bytes before the next record."""
        data = head + before
        return PartRecords(
            data,
            starts=np.zeros(1, np.int64),
            ends=np.array([len(head)]),
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
