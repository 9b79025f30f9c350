"""Processes of a cluster and of runs: which there are, what they listen on, and how to stop and kill them."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests.integration.processes import PATIENCE


class Cluster(NamedTuple):
    """Where a cluster is joined, and the process that has started it."""

    address: str
    pid: int

    def workers(self) -> list[int]:
        """The processes that host shards now."""
        return [pid for pid in descendants(self.pid) if name_of(pid).startswith("ray::Worker")]

    def waited_for(self, number: int) -> list[int]:
        """The processes that host shards, once there are so many."""
        deadline = time.monotonic() + PATIENCE
        while len(found := self.workers()) != number:
            assert time.monotonic() < deadline, f"there are {len(found)} workers, not {number}"
            time.sleep(0.01)
        return sorted(found)


def name_of(pid: int) -> str:
    """What a process calls itself; nothing once it is gone."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""


def descendants(pid: int) -> list[int]:
    """A process, its children, theirs, and so on."""
    found = [pid]
    for one in found:
        for children in Path(f"/proc/{one}/task").glob("*/children"):
            with suppress(OSError):
                found += map(int, children.read_text().split())
    return found


def listening(pids: list[int]) -> dict[str, set[str]]:
    """The addresses, in hexadecimal, that processes accept connections on, each with the names of the processes."""
    owners: dict[str, str] = {}
    for pid in pids:
        with suppress(OSError):
            for link in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(OSError):
                    owners[os.readlink(link)] = name_of(pid)
    found: dict[str, set[str]] = {}
    for local, inode in _listeners():
        if f"socket:[{inode}]" in owners:
            found.setdefault(local, set()).add(owners[f"socket:[{inode}]"])
    return found


def _listeners() -> Iterator[tuple[str, str]]:
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A":
                yield fields[1].rpartition(":")[0], fields[9]


def is_loopback(local: str) -> bool:
    """Whether an address of /proc/net/tcp or tcp6 is 127.0.0.0/8, ::1, or the former as the latter's."""
    return local[-2:] == "7F" if len(local) == 8 else local in _LOOPBACK_6 or (_MAPPED in local and local[-2:] == "7F")


_LOOPBACK_6 = ("00000000000000000000000001000000",)
_MAPPED = "0000000000000000FFFF0000"


def send(number: signal.Signals, *pids: int) -> None:
    """Send a signal to processes, some of which may be gone."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
