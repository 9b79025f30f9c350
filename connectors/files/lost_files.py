"""Searches for the file of a position that is no longer at its path: renamed, compressed, copied, or behind a link."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress

from connectors.files.file_reader import FileReader
from connectors.files.outage import if_there
from connectors.records import HEAD
from streamlin.errors import ConnectorError
from streamlin.events import Position, SourceContext

ENOUGH = HEAD
"""So many equal bytes are no coincidence, whatever a file is called; a header or a first line may be."""

_ROTATED = re.compile(r"[-._]\d[\w.-]*")
"""What follows the name of a log that was rotated: `.1`, `.2.gz`, `-20260101`."""

Test = Callable[[str, os.stat_result, Position], bool]


def has_inode(path: str, status: os.stat_result, position: Position) -> bool:
    """Whether a file has the device and inode that the one of a position had."""
    return (status.st_dev, status.st_ino) == (position["device"], position["inode"])


def may_be(path: str, status: os.stat_result, position: Position) -> bool:
    """Whether equal bytes before a position are evidence enough that a file at another path is the same one.

    Files of one folder often begin with the same header or line. Equal bytes count if the file has the same inode, or a
    name that begins with the old one (`app.log.1.gz`), or if they are many.
    """
    named = os.path.basename(path).startswith(os.path.basename(position["file"]))
    return named or position["offset"] >= ENOUGH or has_inode(path, status, position)


def find_file(position: Position, name: str, context: SourceContext, test: Test = may_be) -> FileReader | None:
    """The file that a position belongs to, in the folders of its old and its new path; at the position.

    name : the path as given, which its records are attributed to. test : leaves out files before they are opened.
    """
    for path in _candidates(position, name, test):
        reader = resumed(path, position, context, name)
        if reader is not None:
            return reader
    return None


def resumed(path: str, position: Position, context: SourceContext, name: str) -> FileReader | None:
    """A file at a position; None if it is another file or can't be read. Raises OSError for a failure that may pass."""
    with if_there(), suppress(ConnectorError), ExitStack() as opened:
        reader = opened.enter_context(closing(FileReader(path, context, name)))
        if reader.resume(position):
            opened.pop_all()
            return reader
    return None


def only_begins_as(path: str, old: str, position: Position, context: SourceContext) -> bool:
    """Whether a file has the bytes before a position, but goes on otherwise than the old file, which is elsewhere now.

    A copy of the old file holds the rest of that, too; a new file that happens to begin as the old one does not.
    """
    with ExitStack() as opened:
        readers = []
        for file in (old, path):
            reader = resumed(file, position, context, path)
            if reader is None:
                return False
            readers.append(opened.enter_context(closing(reader)))
        return not readers[0].rest_is_in(readers[1])


def written_since(found: FileReader, position: Position, path: str, context: SourceContext) -> None:
    """Tell of logs that were rotated after a file that was found: of these no position tells how far they were read."""
    with suppress(OSError):
        since = os.stat(found.path).st_mtime_ns
        sizes = {
            other: status.st_size
            for other, status in files_in(os.path.dirname(found.path))
            if status.st_mtime_ns > since and _ROTATED.fullmatch(_behind(other, path))
        }
        later = [other for other in sorted(sizes) if not _is_copy(other, position, path, context)]
        if later:
            names = ", ".join(map(os.path.basename, later))
            size = sum(sizes[other] for other in later)
            context.notice(f"{names} ({size:,} bytes) were rotated since then, and are not read")


def _behind(other: str, path: str) -> str:
    return os.path.basename(other).removeprefix(os.path.basename(path))


def _is_copy(other: str, position: Position, path: str, context: SourceContext) -> bool:
    reader = resumed(other, position, context, path)
    if reader is not None:
        reader.close()
    return reader is not None


def unread(position: Position) -> str:
    """For a message: what is not read of a file that is not found, if anything is known; else empty."""
    offset = position["offset"]
    rest = position.get("size", offset) - offset
    return f"the {rest:,} bytes that it had after offset {offset:,} are not read" if rest > 0 else ""


def _candidates(position: Position, name: str, test: Test) -> list[str]:
    """Paths that the file may have: with its inode first, then its own, then others, the last written first."""
    folders = {os.path.dirname(path) for path in (position["file"], os.path.abspath(name), os.path.realpath(name))}
    entries = [entry for folder in sorted(folders) for entry in files_in(folder)]
    found = [
        (not has_inode(path, status, position), path != position["file"], -status.st_mtime_ns, path)
        for path, status in entries
        if test(path, status, position)
    ]
    return [path for *_, path in sorted(found)]


def files_in(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """The regular files of a folder, those that links lead to included; none if it can't be read.

    Raises OSError for a failure that may pass.
    """
    with if_there(), os.scandir(folder) as entries:
        for entry in entries:
            with if_there():
                if entry.is_file():
                    yield entry.path, entry.stat()
