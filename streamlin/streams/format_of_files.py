"""The format of the files that an address refers to, by their suffixes."""

import os
from glob import glob

from streamlin.errors import ConfigError
from streamlin.formats import format_of

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
    """The files of a folder or pattern that are not empty, sorted; none for a single file."""
    if os.path.isdir(path):
        found = [entry.path for entry in os.scandir(path) if entry.is_file() and entry.name[0] not in "._"]
    elif os.path.exists(path):
        found = []
    else:
        wanted = os.path.basename(path).startswith("_")
        found = [file for file in glob(path, recursive=True) if wanted or not os.path.basename(file).startswith("_")]
    return sorted(file for file in found if os.path.isfile(file) and os.path.getsize(file))


def _listed(files: list[str]) -> str:
    """The first files by name, and how many more there are."""
    more = f" and {len(files) - _SHOWN:,} more" if len(files) > _SHOWN else ""
    return ", ".join(map(os.path.basename, files[:_SHOWN])) + more
