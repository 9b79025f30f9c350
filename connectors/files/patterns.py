"""Patterns such as `logs/**/*.jsonl`, in which each folder and each file counts once, whatever is linked to what.

`glob` follows links, so that a folder that is linked into itself is forty folders, and with two such links 2^40.
"""

import os
from collections import deque
from collections.abc import Iterable, Iterator
from glob import escape, glob

_ANY_DEPTH = "**"


def matching(pattern: str) -> Iterator[str]:
    """The paths that a pattern matches by the rules of `glob`, except that `**` enters each folder once."""
    parts = pattern.split(os.sep)
    if _ANY_DEPTH not in parts:
        yield from glob(pattern)
        return
    cut = parts.index(_ANY_DEPTH)
    rest = parts[cut + 1 :] or ["*"]  # a pattern that ends with it matches files too
    for start in _folders(os.sep.join(parts[:cut]), is_absolute=pattern.startswith(os.sep)):
        for folder in _below(start):
            yield from matching(os.path.join(escape(folder), *rest))


def each_once(paths: Iterable[str]) -> list[str]:
    """The paths in order, one for each file: that of the file itself before links to it, then the shortest."""
    by_file: dict[object, str] = {}
    for path in sorted(paths, key=lambda path: (os.path.islink(path), path.count(os.sep), path)):
        by_file.setdefault(_identity(path), path)
    return sorted(by_file.values())


def _folders(pattern: str, is_absolute: bool) -> list[str]:
    """The folders that the part of a pattern before `**` matches."""
    if not pattern:
        return [os.sep if is_absolute else ""]
    return sorted(path for path in matching(pattern) if os.path.isdir(path))


def _below(start: str) -> Iterator[str]:
    """A folder and those in it at any depth that are not hidden, each once and by its shortest path."""
    seen, waiting = set[object](), deque([start])
    while waiting:
        folder = waiting.popleft()
        place = _identity(folder or os.curdir)
        if place in seen:
            continue
        seen.add(place)
        yield folder
        waiting.extend(os.path.join(folder, name) for name in _subfolders(folder or os.curdir))


def _subfolders(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir())
    except OSError:  # `glob` passes over folders that can't be read, too
        return []


def _identity(path: str) -> object:
    """Device and inode; the path itself where there is no such file."""
    try:
        status = os.stat(path)
    except OSError:
        return path
    return status.st_dev, status.st_ino
