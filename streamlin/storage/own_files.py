"""Files and folders that hold what was learned or accepted: by default only their owner may read them.

A file that is created must not be there before, and none is opened through a symbolic link: who may write to the folder
could otherwise have another file overwritten.
"""

import errno
import os
from pathlib import Path

OWN = 0o600
"""Permissions of a file that only its owner reads and writes."""


def make_folder(path: Path, mode: int = OWN) -> None:
    """Make a folder, and those above it, unless it exists. mode : permissions of its files; who reads may enter."""
    if path.is_dir():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(0o700, exist_ok=True)
    path.chmod(mode | (mode & 0o444) >> 2)


def open_file(path: Path, flags: int, mode: int = OWN) -> int:
    """A descriptor of a file, which is created with these permissions if there is none; never of a link's target.

    flags : as of `os.open`; with O_EXCL there must be no file yet. Raises OSError.
    """
    flags |= os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, OWN)
    except FileExistsError:
        if flags & os.O_EXCL:
            raise
    else:
        os.fchmod(descriptor, mode)  # whatever the umask is
        return descriptor
    try:
        return os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, f"{path.name} is a symbolic link") from None
        raise
