"""A separate process that writes logs as daemons and logrotate do.

Run as a script it carries out one JSON command a line, `[name, arguments…]`, and answers each with a line. `Writer`
is the other end: its methods return once the process has done the thing.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import IO, Any


class Daemon:
    """Keeps its log open until told to reopen it."""

    def __init__(self) -> None:
        self.log: IO[bytes] | None = None

    def open(self, path: str) -> None:
        if self.log is not None:
            self.log.close()
        self.log = open(path, "ab", buffering=0)  # noqa: SIM115

    def write(self, text: str) -> None:
        assert self.log is not None
        self.log.write(text.encode())

    def rename(self, old: str, new: str) -> None:
        os.rename(old, new)

    def copytruncate(self, path: str, copy: str) -> None:
        Path(copy).write_bytes(Path(path).read_bytes())
        os.truncate(path, 0)

    def copytruncate_and_write(self, path: str, copy: str, text: str) -> None:
        """Without a pause in which a reader could look."""
        self.copytruncate(path, copy)
        self.write(text)

    def delete(self, path: str) -> None:
        os.unlink(path)


class Writer:
    """Starts a `Daemon` in a process, and ends it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __getattr__(self, name: str) -> Any:
        def carry_out(*arguments: Any) -> None:
            assert self._process.stdin
            assert self._process.stdout
            self._process.stdin.write(json.dumps([name, *map(str, arguments)]) + "\n")
            self._process.stdin.flush()
            assert self._process.stdout.readline() == "done\n"

        return carry_out

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate()
        assert self._process.returncode == 0


if __name__ == "__main__":
    daemon = Daemon()
    for line in sys.stdin:
        command, *given = json.loads(line)
        getattr(daemon, command)(*given)
        print("done", flush=True)
