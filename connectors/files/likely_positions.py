"""Finds the positions that a file at another path may belong to, without comparing each with each."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import takewhile

from connectors.files.lost_files import ENOUGH
from connectors.records import digest
from streamlin.events import Position

Known = tuple[str, Position]
"""A position, and the key that it has in the checkpoint."""


class LikelyPositions:
    """Positions by the names of their files, and by the first bytes of those of which many bytes were read."""

    def __init__(self, known: Iterable[Known]) -> None:
        self._by_name: dict[str, list[Known]] = defaultdict(list)
        self._by_head: dict[str, list[Known]] = defaultdict(list)
        for one in known:
            self._by_name[os.path.basename(one[1]["file"])].append(one)
            if one[1]["offset"] >= ENOUGH and "head" in one[1]:
                self._by_head[one[1]["head"]].append(one)

    @property
    def need_head(self) -> bool:
        """Whether the first bytes of a file matter."""
        return bool(self._by_head)

    def of(self, path: str, head: bytes) -> Iterator[Known]:
        """Positions of files that had a path's name, or the beginning of it (`app.log.1.gz`), or its first bytes."""
        name = os.path.basename(path)
        for length in range(1, len(name) + 1):
            yield from _in_such_a_folder(path, self._by_name.get(name[:length], []))
        if len(head) >= ENOUGH:
            yield from self._by_head.get(digest(head), [])


def similarity(one: str, other: str) -> int:
    """How many parts of two paths are equal, counted from their ends."""
    pairs = zip(reversed(one.split(os.sep)), reversed(other.split(os.sep)), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _in_such_a_folder(path: str, known: list[Known]) -> list[Known]:
    """Those whose folder has the same name, if any; thousands of files may have one name."""
    folder = os.path.basename(os.path.dirname(path))
    same = [one for one in known if os.path.basename(os.path.dirname(one[1]["file"])) == folder]
    return same or known
