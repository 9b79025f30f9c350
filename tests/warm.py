"""Processes of the command `streamlin` that begin as forks of one that has everything imported.

Each is a process with its own id, signals, files and exit code, and costs a tenth of an interpreter that starts anew. They
are children of the tests: the server forks twice, and orphans go to the nearest ancestor that asks for them.
"""

import atexit
import ctypes
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from threading import Lock
from typing import Any

from tests.locations import ROOT

_PR_SET_CHILD_SUBREAPER = 36
_ONE_AT_A_TIME = Lock()


class Warm(subprocess.Popen[bytes]):
    """The command with these arguments; an environment is needed."""

    def _execute_child(self, args: Sequence[str], *rest: Any) -> None:
        """Ask the server in place of fork and exec; the names of `rest` are those of `subprocess`."""
        (_, _, _, _, cwd, env, _, _, _, p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite, *_) = rest
        given = [theirs if theirs != -1 else own for own, theirs in enumerate((p2cread, c2pwrite, errwrite))]
        self.pid = _forked(given, args, os.path.abspath(cwd or "."), env)
        self._child_created = True
        self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)


def _forked(descriptors: Sequence[int], arguments: Sequence[str], cwd: str, env: Mapping[str, str]) -> int:
    """The id of a new process, which is a child of this one."""
    message = json.dumps([cwd, dict(env), arguments]).encode()
    with _ONE_AT_A_TIME:
        server = _server()
        _adopt_orphans(True)
        try:
            socket.send_fds(server, [message], descriptors)
            pid = int(server.recv(100))
            server.recv(100)
        finally:
            _adopt_orphans(False)
    return pid


def _adopt_orphans(wanted: bool) -> None:
    assert ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0) == 0


@cache
def _server() -> socket.socket:
    """A connection to the server, which ends when this process does."""
    own, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with other:
        command = [sys.executable, "-W", "error", "-m", "tests.warm_server", str(other.fileno())]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIN_")}
        server = subprocess.Popen(
            command, cwd=ROOT, env=clean, pass_fds=[other.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
    atexit.register(server.wait, 10)
    atexit.register(own.close)
    return own
