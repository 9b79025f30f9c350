"""Reads the records of one open file."""

from connectors.files.decompression import DamagedError, TrailingError
from connectors.files.open_file import Content, OpenFile, checkpoint_key
from connectors.files.record_cutter import RecordCutter
from connectors.files.same_bytes import begins_alike, seek_behind
from connectors.files.unended_line import behind_line_end, is_continued
from connectors.records import Origin, PartRecords, position_in
from streamlin.errors import ConnectorError
from streamlin.events import Position, SourceContext

BLOCK = 1024 * 1024
"""Bytes of a block: each batch has a cost of its own, and long texts make small batches of a block."""


class FileReader(OpenFile):
    """The records of a file, from its beginning, or from where `resume` or `go_to_end` moves to.

    Parameters
    ----------
    path : the file.
    name : the path that its records are attributed to, if the file had another path before.

    Raises
    ------
    OSError, ConnectorError : see `OpenFile`.
    """

    def __init__(self, path: str, context: SourceContext, name: str | None = None) -> None:
        super().__init__(path, context)
        self._context = context
        self._origin = Origin(name or path, checkpoint_key(name or path), self.identity)
        self._damage: Position = {}
        self._size = 0
        self._begin()

    def read(self) -> list[PartRecords] | None:
        """The records that the next block completes, possibly none; None at the current end of the file.

        Raises ChangedError if the file was truncated or overwritten, OSError.
        """
        try:
            block = self._bytes.read(max(BLOCK * self._context.dealt, self._cutter.pending_bytes))
        except TrailingError as trailing:
            self._context.notice(f"{self._origin.part}: {trailing}")
            return None
        except DamagedError as damage:
            return self._break_off(str(damage))
        except ConnectorError as error:
            raise ConnectorError(f"{self._origin.part}: {error}") from error
        return self._identified(self._cutter.feed(block)) if block else None

    def begin_again(self) -> list[PartRecords]:
        """Read a file that was truncated or overwritten from its beginning; an incomplete last line is a record."""
        left = f"; {self.unread:,} bytes that it had before are not read" if self.unread else ""
        self._context.notice(
            f"{self._origin.part} was truncated or overwritten; it is read from its beginning again{left}"
        )
        incomplete = self._identified(self._cutter.finish())
        self._begin()
        return incomplete

    def finish(self) -> list[PartRecords]:
        """The file ends here: an incomplete last line is a record too."""
        return self._identified(self._cutter.finish())

    def position(self) -> Position:
        """Where reading resumes: behind the last record that was returned."""
        cutter, size = self._cutter, self._size if self.is_plain else None
        return position_in(self.identity, cutter.offset, cutter.before, self._bytes.head, size) | self._damage

    def resume(self, position: Position) -> bool:
        """Go to a position; False, at the beginning, if the bytes before it are not those that were read."""
        content = self.content()
        if not seek_behind(content, position):
            self._begin()
            return False
        self._go_on(content)
        if "unended" not in position:
            self._damage = {key: position[key] for key in ("damaged", "error") if key in position}
        elif self.is_plain and is_continued(self.content(position["offset"])):
            self._resume_in_line(position)
        return True

    def take_over(self, other: "FileReader") -> bool:
        """Go to where another reader is, if this file holds all that it has read, and that is at least one record."""
        content = other._bytes
        end = position_in({}, content.offset, content.before, content.head, None)
        return other._cutter.offset > 0 and seek_behind(self.content(), end) and self.resume(other.position())

    def begins_as(self, other: "FileReader") -> bool:
        """Whether this file has the first bytes that another reader has read."""
        position = other.position()
        return position["offset"] > 0 and begins_alike(self.content(), position)

    def is_prefix(self) -> bool:
        """Whether the file has become shorter, and its first bytes are still those that were read."""
        return self.size() < self._bytes.offset and self._bytes.head.startswith(self.head()[: len(self._bytes.head)])

    def rest_is_in(self, other: "FileReader") -> bool:
        """Whether another reader's file, at the same offset, goes on with all that this one has left."""
        at = self._cutter.offset
        own, others = self.content(at), other.content(at)
        while rest := own.read(BLOCK):
            if others.read(len(rest)) != rest:
                return False
        return True

    def has_more(self) -> bool:
        """Whether there is anything behind the last record that was returned. Nothing can be read after this."""
        try:
            return bool(self._bytes.read(1))
        except DamagedError:
            return True

    def go_to_end(self) -> None:
        """Go to the end of a plain file, or to the beginning of an incomplete last line."""
        longest = self._context.max_record_bytes
        at = max(0, self.size() - longest)
        last = self.content(at).read(longest)
        self._go_on(self.content(at + last.rfind(b"\n") + 1))

    @property
    def unread(self) -> int:
        """The number of bytes that the file, if it is plain, had when it was read last, and that are not read."""
        return max(0, self._size - self._bytes.offset) if self.is_plain else 0

    @property
    def disk_offset(self) -> int:
        """The number of bytes of the file on disk that are read."""
        return self._bytes.disk_offset

    @property
    def expansion(self) -> float:
        """Bytes of content for each byte on disk that is read so far; 1 before the first."""
        return self._bytes.offset / max(1, self._bytes.disk_offset) or 1.0

    def _begin(self) -> None:
        self._bytes = self.content()
        self._cutter = self._open_cutter()

    def _go_on(self, content: Content) -> None:
        """Read on from where `content` is, which is the beginning of a record."""
        header = self._header() if content.offset else None
        self._bytes = content
        self._cutter = self._open_cutter(content.offset, content.before, header)

    def _resume_in_line(self, position: Position) -> None:
        """Read a line again that was a dead letter, as its end was missing; skip the rest of one that was an event."""
        at, begin = position["offset"], position["unended"]
        if "error" in position:
            self._go_on(self.content(begin))
            self._damage = {"error": position["error"]}
            return
        end = behind_line_end(self.content(at))
        self._go_on(self.content(end))
        self._context.notice(
            f"{self._origin.part}:{begin}: this line was read before it was complete; "
            f"the {end - at:,} bytes that were added to it are not read"
        )

    def _open_cutter(self, offset: int = 0, before: bytes = b"", header: bytes | None = None) -> RecordCutter:
        context = self._context
        return RecordCutter(
            self._origin, context.framing, context.max_record_bytes, offset, before, header, context.notice
        )

    def _header(self) -> bytes | None:
        """The header at the file's beginning, if its format has one."""
        context = self._context
        source, cutter = self.content(), RecordCutter(self._origin, context.framing, context.max_record_bytes)
        while cutter.header_due:
            try:
                block = source.read(BLOCK)
            except DamagedError:
                break
            if not block:
                break
            cutter.feed(block)
        return cutter.header

    def _break_off(self, damage: str) -> list[PartRecords]:
        """The incomplete rest as a record with an error, unless an earlier run already returned it."""
        good = self._bytes.offset
        records = self._cutter.break_off(f"{damage}, after {good} decompressed bytes", good)
        return self._identified(records) if self._damage.get("damaged") != good else []

    def _identified(self, records: list[PartRecords]) -> list[PartRecords]:
        """The records, with what identifies the file; the first ones replace what an earlier run found damaged."""
        if not records:
            return records
        self._size = self.size()
        for one in records:
            one.head, one.size = self._bytes.head, self._size if self.is_plain else None
        if self._damage:
            self._context.notice(f"{records[0].name(0)}: what was incomplete before is read again")
            records[0].mended, self._damage = self._damage["error"], {}
        return records
