"""Which files a path, a pattern or a folder stands for."""

import os
import stat
from glob import glob

from connectors.failures import failing
from connectors.files.compression import compression
from streamlin.errors import ConfigError, ConnectorError


def files_of(address: str) -> list[str]:
    """The files that an address stands for, sorted by name.

    A path that exists is taken as it is, whatever characters it has; a folder stands for the files in it that are not
    hidden; another path with `*`, `?` or `[` is a pattern, `**` for folders in any depth.

    Raises
    ------
    ConnectorError : there is none.
    """
    with failing(f"{address} can't be read"):
        try:
            is_folder = stat.S_ISDIR(os.stat(address).st_mode)
        except FileNotFoundError:
            if not has_wildcards(address):
                raise
        else:
            return _in_folder(address) if is_folder else [address]
    found = sorted(path for path in glob(address, recursive=True) if not os.path.isdir(path))
    if not found:
        raise ConnectorError(f"no file matches {address}")
    return found


def _in_folder(folder: str) -> list[str]:
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries if entry.is_file() and not entry.name.startswith("."))
    if not names:
        raise ConnectorError(f"no file in the folder {folder} (hidden ones are left out)")
    return [os.path.join(folder, name) for name in names]


def has_wildcards(path: str) -> bool:
    """Whether a path that does not exist is a pattern."""
    return any(character in path for character in "*?[")


def check_followable(path: str) -> None:
    """Raise ConfigError for what can't be followed."""
    if os.path.isdir(path) or (has_wildcards(path) and not os.path.exists(path)):
        raise ConfigError(f"--follow takes one file, not {path}; give the path of one, which need not exist yet")
    if compression(path):
        raise ConfigError(f"--follow takes a plain file, not the compressed {path}; read it without --follow")
