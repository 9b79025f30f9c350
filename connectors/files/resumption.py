"""Where a followed file goes on: in the file at its path, or in the one that was read there before."""

from connectors.files.file_reader import FileReader
from connectors.files.lost_files import find_file, has_inode, only_begins_as, unread, written_since
from streamlin.events import Position, SourceContext


def reader_behind(
    position: Position, reader: FileReader | None, path: str, context: SourceContext
) -> FileReader | None:
    """The reader that goes on: the given one, if it holds the bytes before the position, or one of the old file.

    If the old file is not found, the given reader is at its beginning, and a line tells what is not read.

    reader : of the file at `path`, None if there is none; it is closed if another one is returned.
    """
    if reader is not None and reader.resume(position) and not _is_new(reader, position, context):
        return reader
    found = find_file(position, path, context)
    if found is not None:
        context.notice(was_before(found, path))
        written_since(found, position, path, context)
        if reader is not None:
            reader.close()
        return found
    if reader is not None:
        left = unread(position) or f"what was added to it after offset {position['offset']:,} is not read"
        context.notice(
            f"the file that was read as {path} is gone or overwritten; {left}, and {path} is read from its beginning"
        )
    return reader


def was_before(found: FileReader, path: str) -> str:
    """For a message: a file that was found is the one that was read at a path."""
    return f"{found.path} was {path} before; it is read to its end first"


def begins_equally(path: str, position: Position) -> str:
    """For a message: the old file is somewhere else, and the one at its path begins with the same bytes."""
    return (
        f"another file is at {path}, which begins with the same {position['offset']:,} bytes; "
        "reading goes on behind them"
    )


def _is_new(reader: FileReader, position: Position, context: SourceContext) -> bool:
    """Whether the file at the path only begins as the old one, which is elsewhere by now."""
    old = None if reader.is_file_of(position) else find_file(position, reader.path, context, has_inode)
    if old is None:
        return False
    old.close()
    if only_begins_as(reader.path, old.path, position, context):
        return True
    context.notice(begins_equally(reader.path, position))
    return False
