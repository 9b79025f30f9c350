"""Which files are read in which order, and where each goes on."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from connectors.files.file_reader import FileReader
from connectors.files.lost_files import files_in, find_file, resumed, unread, written_since
from connectors.files.open_file import checkpoint_key
from connectors.files.paths import is_left_out
from connectors.files.recognition import recognized
from streamlin.events import Position, SourceContext

_SHOWN = 3
"""Files that a message names."""


@dataclass(frozen=True)
class PlannedFile:
    """A file to read. name : the path that its records are attributed to. position : where it goes on; None: anew."""

    path: str
    name: str
    position: Position | None = None


def plan(paths: Sequence[str], context: SourceContext) -> list[PlannedFile]:
    """The files at `paths`, each with its position if it was read before.

    What is left of files that were read before and are not at these paths now, because they were rotated or a link was
    switched, comes first. A line tells of what is not found.

    Raises
    ------
    OSError : a failure that may pass.
    """
    known = recognized(paths, context)
    given = {checkpoint_key(path): path for path in paths}
    planned = [PlannedFile(path, path, known.positions.get(path)) for path in paths]
    taken = set(map(os.path.realpath, paths))
    rests: list[PlannedFile] = []
    for key, position in known.lost.items():
        rest = _rest_of_replaced if key in given else _rest_of_absent
        rests += (file for file in rest(given.get(key, key), position, context) if file.path not in taken)
    for file in rests:
        context.notice(f"{file.path} was {file.name} before; it is read to its end first")
    return [*rests, *planned]


def tell_of_old_folder(folder: str, context: SourceContext) -> None:
    """If a folder is a link that led to another one before, tell of the files there that were not begun.

    Only the first time: later on, positions of files with equal names are those of the new folder.
    """
    read: dict[str, set[str]] = {}
    for key, position in context.positions.items():
        if "file" in position and not os.path.islink(key):
            read.setdefault(os.path.dirname(position["file"]), set()).add(position["file"])
    for old in [] if os.path.realpath(folder) in read else sorted(read):
        names = sorted(os.path.basename(path) for path, _ in files_in(old) if path not in read[old])
        left = [name for name in names if not is_left_out(name)]
        if left:
            more = f" and {len(left) - _SHOWN:,} more" if len(left) > _SHOWN else ""
            context.notice(f"{folder} led to {old} before; not read there: {', '.join(left[:_SHOWN])}{more}")


def other_file(path: str, position: Position) -> str:
    """For a message: the file at a path is not the one that was read there."""
    left = unread(position)
    return f"{path} is not the file that was read before; {f'{left}; ' if left else ''}reading starts at its beginning"


def _rest_of_replaced(path: str, position: Position, context: SourceContext) -> Iterator[PlannedFile]:
    """What is left of a file, while another one is at its path."""
    found = find_file(position, path, context)
    if found is None:
        context.notice(other_file(path, position))
    else:
        written_since(found, position, path, context)
        yield from _rest(found, path, position)


def _rest_of_absent(name: str, position: Position, context: SourceContext) -> Iterator[PlannedFile]:
    """What is left of a file that is not among those to be read, such as one of a folder that a link led to before."""
    found = resumed(position["file"], position, context, name)
    if found is not None:
        yield from _rest(found, name, position)
    elif left := unread(position):
        context.notice(f"{name} is gone; {left}")


def _rest(found: FileReader, name: str, position: Position) -> Iterator[PlannedFile]:
    """Nothing if a file was read to its end."""
    has_more = found.has_more()
    found.close()
    if has_more:
        yield PlannedFile(os.path.realpath(found.path), name, position)
