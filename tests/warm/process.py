"""Processes of the command `streamlin`, forked by the server.

Each is a process with its own id, signals, files and exit code, and costs a tenth of an interpreter that starts anew.
They are children of the tests: the server leaves orphans, which go to the nearest ancestor that asks for them.
"""

import atexit
import ctypes
import json
import os
import socket
import subprocess
import sys
import tempfile
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
        self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)  # type: ignore[attr-defined]


@cache
def server_address() -> str:
    """The path of the server's socket; the server is started first, and ends when this process does."""
    folder = tempfile.TemporaryDirectory()
    path = f"{folder.name}/socket"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path)
        listener.listen()
        command = [sys.executable, "-W", "error", "-m", "tests.warm.server", str(listener.fileno())]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIN_")}
        clean["OPENBLAS_NUM_THREADS"] = "1"  # threads do not survive a fork
        server = subprocess.Popen(
            command, cwd=ROOT, env=clean, pass_fds=[listener.fileno()], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
    atexit.register(folder.cleanup)
    atexit.register(server.communicate)
    return path


def _forked(descriptors: Sequence[int], arguments: Sequence[str], cwd: str, env: Mapping[str, str]) -> int:
    """The id of a new process, which is a child of this one."""
    message = json.dumps([cwd, dict(env), arguments, False]).encode()
    with _ONE_AT_A_TIME, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.connect(server_address())
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
