"""The memory that this process may use."""

import os
import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_CONTROL_GROUPS = Path("/sys/fs/cgroup")
_SHARE_OF_TABLES = 3
"""Tables may take this part of the memory: a checkpoint copies them, and a table that grows is copied too."""


def usable_memory() -> int:
    """Bytes: those of the machine, or of its container if that has fewer; half the address space if it is limited."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), *_limits_of_control_groups()]
    address_space, _ = resource.getrlimit(resource.RLIMIT_AS)
    if address_space != resource.RLIM_INFINITY:
        found.append(address_space // 2)  # compiled code and tables with room to grow take addresses, not memory
    return min(found)


def memory_for_tables() -> int:
    """Bytes that all learners' tables together may take where no limit is set."""
    return usable_memory() // _SHARE_OF_TABLES


def _limits_of_control_groups() -> Iterator[int]:
    """The limits of this process's control group and those above it, of version 2 or 1."""
    own = "/"
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            if line.startswith("0::"):
                own = line.removeprefix("0::")
    group = _CONTROL_GROUPS / own.lstrip("/")
    files = [folder / "memory.max" for folder in (group, *group.parents) if folder.is_relative_to(_CONTROL_GROUPS)]
    for file in (*files, _CONTROL_GROUPS / "memory" / "memory.limit_in_bytes"):
        with suppress(OSError, ValueError):  # no such file, or `max`
            yield int(file.read_text(encoding="utf-8"))
