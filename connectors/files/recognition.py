"""Finds out which files were read before: by the bytes before a position, whatever their device, inode and name."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from connectors.files.likely_positions import Known, LikelyPositions, similarity
from connectors.files.lost_files import files_in, has_inode, only_begins_as
from connectors.files.open_file import OpenFile, checkpoint_key
from connectors.files.outage import if_there, passes
from streamlin.errors import ConnectorError
from streamlin.events import Position, SourceContext


@dataclass
class Recognized:
    """What a checkpoint knows of files.

    positions : by path, where each file that was read before goes on.
    lost : the source's own positions, by key, that belong to none of the files.
    """

    positions: dict[str, Position]
    lost: dict[str, Position]


def recognized(paths: Sequence[str], context: SourceContext) -> Recognized:
    """Give each file the position that belongs to it, and each position to one file at most.

    Files of a folder may begin with the same bytes. A position therefore goes to the file with its inode, else to the
    file at its path, and only if neither has its bytes to a file with a similar name, or with many equal bytes.

    Raises
    ------
    OSError : a failure that may pass.
    """
    matching = _Matching(paths, context)
    matching.by_inode()
    matching.by_path()
    matching.by_similarity()
    return matching.result()


class _Matching:
    """Gives positions to files, the furthest positions first; a file may be known by several names."""

    def __init__(self, paths: Sequence[str], context: SourceContext) -> None:
        self._context = context
        self._files = {path: status for path in paths if (status := _status(path)) is not None}
        self._paths = {checkpoint_key(path): path for path in self._files}
        self._own = {key: {"file": key} | position for key, position in context.positions.items()}
        known = chain(self._own.items(), context.elsewhere)
        self._free: list[Known] = sorted(known, key=lambda one: -one[1]["offset"])
        self._found: dict[str, Known] = {}

    def by_inode(self) -> None:
        """To the file with a position's inode; of several, the one at its path."""
        paths = {(status.st_dev, status.st_ino): path for path, status in self._files.items()}

        def file_of(key: str, position: Position) -> str | None:
            own = self._paths.get(key)
            if own is not None and has_inode(own, self._files[own], position):
                return own
            return paths.get((position["device"], position["inode"]))

        self._give(file_of)

    def by_path(self) -> None:
        """To the file at a position's path, unless the old one is beside it by another name and goes on otherwise."""

        def file_of(key: str, position: Position) -> str | None:
            path = self._paths.get(key)
            if path is None or has_inode(path, self._files[path], position):
                return path
            old = self._siblings.get(_inode(position))
            return None if old is not None and only_begins_as(path, old, position, self._context) else path

        self._give(file_of)

    @cached_property
    def _siblings(self) -> dict[tuple[int, int], str]:
        """All files of the folders, also those that are not read, by inode."""
        folders = {os.path.dirname(os.path.realpath(path)) for path in self._files}
        found = chain.from_iterable(files_in(folder) for folder in folders)
        return {(status.st_dev, status.st_ino): path for path, status in found}

    def by_similarity(self) -> None:
        """To files that were moved, copied or compressed: new ones, and those that were read further as another source.

        Of several files, to the one with the most similar path.
        """
        given: dict[int, str] = {}
        for known, path in self._similar():
            if id(known) not in given and self._goes_further(path, known) and self._holds(path, known[1]):
                self._found[path], given[id(known)] = known, path
        self._free = [known for known in self._free if id(known) not in given]
        if given:
            self._tell(sorted(given.values()))

    def _similar(self) -> list[tuple[Known, str]]:
        """Positions, and files that they may belong to; the most similar ones first."""
        likely = LikelyPositions(self._free)
        pairs: list[tuple[int, Known, str]] = []
        for path in self._files if self._free else ():
            real, head = os.path.realpath(path), self._head(path) if likely.need_head else b""
            pairs += (
                (similarity(known[1]["file"], real), known, path)
                for known in likely.of(real, head)
                if self._paths.get(known[0]) != path or not self._is_own(known)
            )
        pairs.sort(key=lambda pair: (-pair[0], -pair[1][1]["offset"]))
        return [(known, path) for _, known, path in pairs]

    def _goes_further(self, path: str, known: Known) -> bool:
        """Whether a file was not read yet, or less far; own positions of other files are no reason to read on."""
        if path not in self._found:
            return True
        return not self._is_own(known) and known[1]["offset"] > self._found[path][1]["offset"]

    def _is_own(self, known: Known) -> bool:
        return self._own.get(known[0]) is known[1]

    def result(self) -> Recognized:
        found = self._found.values()
        keys, inodes = {key for key, _ in found}, {_inode(position) for _, position in found}
        free = [(key, position) for key, position in self._free if self._is_own((key, position))]
        lost = {key: position for key, position in free if key not in keys and _inode(position) not in inodes}
        return Recognized({path: position for path, (_, position) in self._found.items()}, lost)

    def _tell(self, paths: Sequence[str]) -> None:
        old = self._found[paths[0]][1]["file"]
        if len(paths) == 1:
            what = f"{paths[0]} begins with the bytes that were read as {old}"
        else:
            what = f"{len(paths):,} files begin with the bytes that were read as others, such as {paths[0]} as {old}"
        self._context.notice(f"{what}; reading goes on behind them")

    def _give(self, file_of: Callable[[str, Position], str | None]) -> None:
        """Give positions to the files that `file_of` names, if these hold their bytes."""
        left = []
        for key, position in self._free:
            path = file_of(key, position)
            if path is None or path in self._found or not self._holds(path, position):
                left.append((key, position))
            else:
                self._found[path] = key, position
        self._free = left

    def _holds(self, path: str, position: Position) -> bool:
        """Whether a file has the bytes before a position; of a compressed file only the first ones are compared."""
        with self._opened(path) as file:
            return file is not None and file.holds(position)

    def _head(self, path: str) -> bytes:
        with self._opened(path) as file:
            return b"" if file is None else file.head()

    @contextmanager
    def _opened(self, path: str) -> Iterator[OpenFile | None]:
        """The open file; None if the file can't be read, which is told when its turn comes."""
        try:
            file = OpenFile(path, self._context)
        except ConnectorError:
            yield None
        except OSError as error:
            if passes(error):
                raise
            yield None
        else:
            with closing(file):
                yield file


def _status(path: str) -> os.stat_result | None:
    with if_there():
        return os.stat(path)
    return None


def _inode(position: Position) -> tuple[int, int]:
    return position["device"], position["inode"]
