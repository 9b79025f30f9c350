"""Folders in which a pattern can't look for files, since they may not be read."""

import os

from connectors.files.patterns import matching

_SHOWN = 3


def has_wildcards(path: str) -> bool:
    """Whether a path, if it does not exist, is a pattern."""
    return any(character in path for character in "*?[")


def closed_folders(pattern: str) -> str:
    """The first of these folders, and how many more there are, as part of a message; empty if there are none."""
    closed = sorted(folder for folder in _searched(pattern) if not os.access(folder, os.R_OK | os.X_OK))
    if not closed:
        return ""
    more = f" and {len(closed) - _SHOWN:,} more" if len(closed) > _SHOWN else ""
    return f"the folder {', '.join(closed[:_SHOWN])}{more} can't be read: Permission denied"


def _searched(pattern: str) -> set[str]:
    """The folders that a pattern leads to, from the first wildcard on."""
    parts = pattern.split(os.sep)
    first = next(number for number, part in enumerate(parts) if has_wildcards(part))
    ends = {*range(first, len(parts)), *(number + 1 for number, part in enumerate(parts) if part == "**")}
    found = {
        folder.rstrip(os.sep) or os.sep
        for end in ends
        for folder in matching(os.path.join(os.sep.join(parts[:end]), ""))
    }
    return found if first else {*found, os.curdir}
