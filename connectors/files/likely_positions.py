"""Finds the positions that a file at another path may belong to, without comparing each with each."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, takewhile

from connectors.files.lost_files import ENOUGH
from connectors.records import digest
from streamlin.events import Position

Known = tuple[str, Position]
"""A position, and the key that it has in the checkpoint."""


_MANY = 100
"""A name that more files have, in folders of other names, does not tell which of them it was."""


class LikelyPositions:
    """Positions by the names of their files, and by the first bytes of those of which many bytes were read."""

    def __init__(self, known: Iterable[Known]) -> None:
        self._by_name: dict[str, dict[str, list[Known]]] = defaultdict(lambda: defaultdict(list))
        self._by_head: dict[str, list[Known]] = defaultdict(list)
        for one in known:
            if not one[1]["offset"]:
                continue  # no bytes that could be compared
            folder, name = _folder_and_name(one[1]["file"])
            self._by_name[name][folder].append(one)
            if one[1]["offset"] >= ENOUGH and "head" in one[1]:
                self._by_head[one[1]["head"]].append(one)

    @property
    def need_head(self) -> bool:
        """Whether the first bytes of a file matter."""
        return bool(self._by_head)

    def of(self, path: str, head: bytes) -> Iterator[Known]:
        """Positions of files that had a path's name, or the beginning of it (`app.log.1.gz`), or its first bytes."""
        folder, name = _folder_and_name(path)
        for length in range(1, len(name) + 1):
            folders = self._by_name.get(name[:length], {})
            if folder in folders or len(folders) <= _MANY:
                yield from folders.get(folder) or chain.from_iterable(folders.values())
        if len(head) >= ENOUGH:
            yield from self._by_head.get(digest(head), [])


def similarity(one: str, other: str) -> int:
    """How many parts of two paths are equal, counted from their ends."""
    pairs = zip(reversed(one.split(os.sep)), reversed(other.split(os.sep)), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _folder_and_name(path: str) -> tuple[str, str]:
    """The names of a file's folder and of the file."""
    folder, name = os.path.split(path)
    return os.path.basename(folder), name
