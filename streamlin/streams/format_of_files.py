"""The format of the files that an address refers to, by their suffixes."""

import os

from streamlin.errors import ConfigError, ConnectorError
from streamlin.formats import format_of
from streamlin.registry import connector

_SHOWN = 2
"""Files that a message names for each format."""


def format_at(path: str) -> str:
    """The format of a file, or the one of all files of a folder or pattern.

    Names that begin with `.` or `_` and empty files (`_SUCCESS`, an empty README) decide nothing.

    Raises
    ------
    ConfigError : the files' suffixes stand for several formats.
    """
    files_by_format: dict[str, list[str]] = {}
    for file in _files(path):
        files_by_format.setdefault(format_of(file), []).append(file)
    if len(files_by_format) > 1:
        found = "; ".join(f"{name}: {_listed(files)}" for name, files in sorted(files_by_format.items()))
        raise ConfigError(
            f"the files of {path} have suffixes of several formats ({found}); "
            "name the files by a pattern such as '*.csv', or the one format of all by format="
        )
    return next(iter(files_by_format), format_of(path))


def _files(path: str) -> list[str]:
    """The files that are read and not empty, sorted; none if the connector can't tell or finds none."""
    files_of = getattr(connector("sources", "file"), "files", None)
    try:
        found: list[str] = [] if files_of is None else files_of(path)
    except ConnectorError:  # which opening the source raises again
        found = []
    return [file for file in found if os.path.isfile(file) and os.path.getsize(file)]


def _listed(files: list[str]) -> str:
    """The first files by name, and how many more there are."""
    more = f" and {len(files) - _SHOWN:,} more" if len(files) > _SHOWN else ""
    return ", ".join(map(os.path.basename, files[:_SHOWN])) + more
