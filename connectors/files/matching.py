"""Which paths an address of files refers to, whether they exist or not."""

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase

from connectors.files.closed_folders import has_wildcards
from connectors.files.paths import files_of, is_left_out
from streamlin.errors import ConnectorError


def read_among(address: str, paths: Sequence[str]) -> list[str]:
    """Those of `paths` that an address refers to, under any of their names, or would refer to once they exist."""
    try:
        known = {_identity(path) for path in files_of(address)} - {None}
    except ConnectorError:
        known = set()
    return [path for path in paths if _identity(path) in known or _refers_to(address, path)]


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _refers_to(address: str, path: str) -> bool:
    """Whether a file at `path` would be read: by its path as given, or by the one that its links lead to."""
    given, resolved = os.path.abspath(path), os.path.realpath(path)
    if os.path.isdir(address):
        return any(_is_in(address, name) for name in (given, resolved))
    if os.path.exists(address) or not has_wildcards(address):
        return os.path.realpath(address) == resolved
    pattern = os.path.abspath(address).split(os.sep)
    fixed = next((number for number, part in enumerate(pattern) if has_wildcards(part)), len(pattern))
    start = os.path.realpath(os.sep.join(pattern[:fixed]) or os.sep).rstrip(os.sep).split(os.sep)
    return _matches(pattern, given.split(os.sep)) or _matches([*start, *pattern[fixed:]], resolved.split(os.sep))


def _is_in(folder: str, path: str) -> bool:
    parent, name = os.path.split(path)
    return os.path.realpath(parent) == os.path.realpath(folder) and not is_left_out(name)


def _matches(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether the parts of a path match those of a pattern, by the rules of `glob`: wildcards match no leading dot."""
    if not pattern or not parts:
        return not parts and all(part == "**" for part in pattern)
    first, name = pattern[0], parts[0]
    if first == "**":
        return _matches(pattern[1:], parts) or (not name.startswith(".") and _matches(pattern, parts[1:]))
    is_last = len(parts) == 1
    hidden = name[:1] != first[:1] and (is_left_out(name) if is_last else name.startswith("."))
    return not hidden and fnmatchcase(name, first) and _matches(pattern[1:], parts[1:])
