"""The files that a path, a pattern or a folder refers to."""

import os
import stat
from collections.abc import Callable

from connectors.failures import connector_errors
from connectors.files.closed_folders import closed_folders, has_wildcards
from connectors.files.compression import compression
from connectors.files.patterns import each_once, matching
from streamlin.errors import ConfigError, ConnectorError


def files_of(address: str, notice: Callable[[str], None] = lambda line: None) -> list[str]:
    """The files that an address refers to, sorted by name.

    A path that exists is used literally, whatever characters it contains. A folder refers to its files, without those
    whose names begin with `.` or `_`, which mark hidden files and notes of other programs (`_SUCCESS`). Any other path
    with `*`, `?` or `[` is a pattern, in which `**` matches folders at any depth. A file with several
    names is read once.

    notice : is told of folders in which a pattern can't look.

    Raises
    ------
    ConnectorError : there is no such file.
    """
    with connector_errors(f"{address} can't be read"):
        try:
            is_folder = stat.S_ISDIR(os.stat(address).st_mode)
        except FileNotFoundError:
            if not has_wildcards(address):
                raise
        else:
            return _in_folder(address) if is_folder else [address]
    wanted = os.path.basename(address).startswith("_")
    found = (path for path in matching(address) if not os.path.isdir(path))
    paths = each_once(path for path in found if wanted or not os.path.basename(path).startswith("_"))
    closed = closed_folders(address)
    if not paths:
        raise ConnectorError(f"no file matches {address}{closed and f', but {closed}'}")
    if closed:
        notice(f"{address}: {closed}; no file in there is read")
    return paths


def _in_folder(folder: str) -> list[str]:
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries if entry.is_file() and not is_left_out(entry.name))
    if not names:
        raise ConnectorError(f"no file in the folder {folder} (names that begin with . or _ are left out)")
    return each_once(os.path.join(folder, name) for name in names)


def is_left_out(name: str) -> bool:
    """Whether a folder passes over a file: its name begins with a dot or an underscore, as `_SUCCESS`."""
    return name.startswith((".", "_"))


def check_followable(path: str) -> None:
    """Raise ConfigError for a path that can't be followed."""
    if os.path.isdir(path) or (has_wildcards(path) and not os.path.exists(path)):
        raise ConfigError(f"--follow takes one file, not {path}; give the path of a file, which need not exist yet")
    if compression(path):
        raise ConfigError(f"--follow takes a plain file, not the compressed {path}; read it without --follow")
