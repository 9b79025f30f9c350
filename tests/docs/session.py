"""Following a page: its fenced blocks are run from top to bottom, all in one folder.

console : each `$ ` line is run by bash; the lines below it are what it prints, times and paths aside.
python, toml : written to a file where the first line is a comment with the file's name; other Python is executed, and
    a `text` block right behind it is what it prints.
sh : commands that a reader may type, but a test does not run.
"""

import atexit
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from functools import cache
from io import StringIO
from pathlib import Path
from threading import Timer
from typing import Any
from uuid import uuid4

import pytest

from tests.docs.pages import ROOT, Block
from tests.warm import shell
from tests.warm.process import server_address

FOLDER = "/srv/try"
"""The folder that pages show as their own."""
_NEWS = re.compile(
    r"streamlin: (compiling |(\d+ % · )?[\d,]+ events · |topic '\w+' does not exist|waiting for )|bash: .*\bKilled\b"
)
"""Lines that pages do not show: those of bash, and those that depend on the speed of the machine."""
_TIMEOUT = 300.0


def comparable(printed: str, folder: str = FOLDER) -> str:
    """Output without times, paths and news, which differ from run to run."""
    lines = []
    for line in printed.replace(folder, FOLDER).splitlines():
        line = re.sub(r"[\d.]+ s, [\d,]+ events/s", "1.0 s, 1 events/s", line)
        line = re.sub(r" {2,}", "  ", line).rstrip()
        if not _NEWS.match(line):
            lines.append(line)
    return "\n".join(lines).strip("\n")


def follow(
    blocks: Iterable[Block], session: "Session", shown_as: Callable[[str], str] = str, pause: float = 0.0
) -> int:
    """Run the blocks and compare with the output that they show; the number of comparisons.

    shown_as : changes actual and shown output before they are compared.
    pause : seconds between two commands, for pages that show how time passes.
    """
    followed = 0
    for block in blocks:
        for what, shown, printed in session.follow(block):
            followed += 1
            time.sleep(pause)
            expected = comparable(shown_as(shown))
            assert comparable(shown_as(printed), str(session.folder)) == expected, f"{block.place}: {what}"
    return followed


@cache
def _warm_programs() -> Path:
    """A folder with a program `streamlin` that `tests.warm` runs."""
    folder = Path(tempfile.mkdtemp(prefix="programs"))
    atexit.register(shutil.rmtree, folder)
    program = shlex.join([sys.executable, "-I", "-S", shell.__file__, server_address()])
    (folder / "streamlin").write_text(f'#!/bin/sh\nexec {program} "$@"\n')
    (folder / "streamlin").chmod(0o755)
    return folder


class Shell:
    """One bash for a whole page, as in a terminal: variables stay, and `&` and `wait` work."""

    def __init__(self, folder: Path) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIN_")}
        self._fresh = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
        self._warm = f"{_warm_programs()}{os.pathsep}{self._fresh}"
        modules = os.pathsep.join([str(folder), *filter(None, [environment.get("PYTHONPATH")])])
        self._bash = subprocess.Popen(
            ["bash"],
            cwd=folder,
            env=environment | {"PYTHONPATH": modules, "LC_ALL": "C.UTF-8"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def run(self, command: str) -> str:
        """Run a command; its standard output and standard error."""
        assert self._bash.stdin is not None
        assert self._bash.stdout is not None
        end = f"end of {uuid4()}"
        path = shlex.quote(self._fresh if "KILL" in command else self._warm)  # a kill must hit the command itself
        self._bash.stdin.write(f"PATH={path}\n{{ {command.rstrip()}\n}} < /dev/null\necho; echo '{end}'\n".encode())
        self._bash.stdin.flush()
        late = Timer(_TIMEOUT, self.close)
        late.start()
        lines = []
        for line in self._bash.stdout:
            if line == f"{end}\n".encode():
                break
            lines.append(line)
        else:
            raise AssertionError(
                f"{command} took more than {_TIMEOUT} s, or ended the shell: {b''.join(lines).decode()}"
            )
        late.cancel()
        return b"".join(lines).decode()

    def close(self) -> None:
        """Kill it and all processes that it has left running."""
        with suppress(ProcessLookupError):
            os.killpg(self._bash.pid, signal.SIGKILL)
        with suppress(BrokenPipeError):
            self._bash.communicate()


class Session:
    """A folder in which a page is followed, with streamlin on the path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names: dict[str, Any] = {"__name__": "page"}
        self._printed = ""
        self._shell = Shell(folder)
        (folder / "streamlin").mkdir()
        (folder / "streamlin/demo").symlink_to(ROOT / "streamlin/demo")
        (folder / "examples").symlink_to(ROOT / "examples")

    def follow(self, block: Block) -> Iterator[tuple[str, str, str]]:
        """Run a block; for each of its commands a description, the output on the page and the actual output."""
        name = block.file()
        if name is not None:
            (self.folder / name).write_text(block.text, encoding="utf-8")
            if name == "pyproject.toml":
                self._install(tomllib.loads(block.text)["project"])
        elif block.language == "console":
            for command, shown in block.commands():
                yield command, shown, self._shell.run(command)
        elif block.language == "python":
            self._printed = self._execute(block)
        elif block.language == "text" and not block.follows.strip():
            yield "the Python above", block.text, self._printed

    def close(self) -> None:
        """Kill running processes."""
        self._shell.close()

    def _execute(self, block: Block) -> str:
        """Execute Python; its output. Names stay defined for the blocks below."""
        printed = StringIO()
        code = compile("\n" * block.line + block.text, block.page, "exec")
        with redirect_stdout(printed):
            exec(code, self._names)
        return printed.getvalue()

    def _install(self, project: Mapping[str, Any]) -> None:
        """Write the metadata that `pip install .` would install, with the entry points."""
        about = self.folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
        about.mkdir()
        about.joinpath("METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        )
        points = "\n".join(
            f"[{group}]\n" + "\n".join(f"{name} = {target}" for name, target in entries.items())
            for group, entries in project["entry-points"].items()
        )
        about.joinpath("entry_points.txt").write_text(points)


@contextmanager
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """A session in a temporary folder; modules that it imported from there are removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="page", dir="/tmp") as folder:  # a short path: tables have 100 columns
        monkeypatch.chdir(folder)
        monkeypatch.syspath_prepend(folder)
        own = Session(Path(folder))
        try:
            yield own
        finally:
            own.close()
            for name, module in list(sys.modules.items()):
                if str(getattr(module, "__file__", None)).startswith(folder):
                    del sys.modules[name]
            monkeypatch.chdir(ROOT)
