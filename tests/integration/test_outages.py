"""Errors of a network file system: a library that is preloaded makes reading one file fail for a while."""

import errno
import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.command_line import refused
from tests.integration.processes import PATIENCE, start, until
from tests.integration.streams import json_lines, write_lines
from tests.required import program

EVENTS = [{"id": str(i), "text": f"event {i}", "label": "x"} for i in range(9)]
LEARNER = ("--learner", "perceptron")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("library") / "unreadable.so"
    source = Path(__file__).with_name("unreadable.c")
    subprocess.run([program("cc"), "-shared", "-fPIC", "-O1", "-o", made, source], check=True)
    return made


class Outage:
    """A run of a file that can't be read while an error is set.

    said : the file of its standard error. out : its predictions.
    """

    def __init__(self, folder: Path, library: Path) -> None:
        self.file, self.out, self._said, self._error = (
            folder / name for name in ("a.jsonl", "out.jsonl", "said", "error")
        )
        self._env = {"LD_PRELOAD": str(library), "FAILING_FILE": str(self.file), "FAILING_ERROR": str(self._error)}

    def run(self, *more: object, options: str = "") -> "subprocess.Popen[bytes]":
        arguments = ("run", f"{self.file}{options}", "--predictions", self.out, *LEARNER, *more)
        with self._said.open("wb") as said:
            return start(*arguments, env=self._env, stderr=said)

    def begins(self, number: int) -> None:
        self._error.with_name("new").write_text(str(number))
        self._error.with_name("new").rename(self._error)

    def ends(self) -> None:
        self._error.unlink()

    def said(self) -> str:
        return self._said.read_text()

    def ids(self) -> str:
        return "".join(line["id"] for line in json_lines(self.out)) if self.out.exists() else ""


def code_of(process: "subprocess.Popen[bytes]") -> int:
    process.communicate(timeout=PATIENCE)
    return process.returncode


@pytest.fixture
def outage(tmp_path: Path, library: Path) -> Outage:
    return Outage(tmp_path, library)


@pytest.mark.parametrize(("number", "replaced"), [(errno.ESTALE, True), (errno.EIO, False)])
def test_a_followed_file_goes_on_after_an_outage(outage: Outage, number: int, replaced: bool) -> None:
    """Meanwhile it grows, or the server replaces it by a longer copy."""
    write_lines(outage.file, EVENTS[:3])
    process = outage.run("--follow")
    until(lambda: outage.ids() == "012", process)
    outage.begins(number)
    until(lambda: f"can't be read: {os.strerror(number)}; it is opened again" in outage.said(), process)
    if replaced:
        write_lines(outage.file.with_name("copy"), EVENTS[:5]).replace(outage.file)
    else:
        with outage.file.open("ab") as file:
            file.write(b"".join(json.dumps(event).encode() + b"\n" for event in EVENTS[3:5]))
    outage.ends()
    until(lambda: outage.ids() == "01234", process)
    process.send_signal(signal.SIGTERM)
    assert code_of(process) == 0
    assert "reading goes on behind the same bytes" in outage.said()


def test_a_replayed_file_goes_on_after_an_outage(outage: Outage) -> None:
    write_lines(outage.file, EVENTS)
    outage.begins(errno.EIO)
    process = outage.run()
    until(lambda: "can't be read" in outage.said(), process)
    outage.ends()
    assert code_of(process) == 0
    assert outage.ids() == "012345678"


@pytest.mark.parametrize("follow", [(), ("--follow",)])
def test_an_outage_that_lasts_ends_the_run(outage: Outage, tmp_path: Path, follow: tuple[str]) -> None:
    """The next run goes on where it was."""
    write_lines(outage.file, EVENTS[:3])
    process = outage.run(*follow, "--checkpoint", tmp_path / "state", options="?give_up_after=0.5")
    if follow:
        until(lambda: outage.ids() == "012", process)
        outage.begins(errno.ESTALE)
    assert code_of(process) == (3 if follow else 0)
    write_lines(outage.file, EVENTS[:5])
    if not follow:
        outage.begins(errno.ESTALE)
        assert code_of(outage.run("--checkpoint", tmp_path / "state", options="?give_up_after=0.5")) == 3
    assert "(give_up_after=0.5)" in outage.said().splitlines()[-1]
    outage.ends()
    assert code_of(outage.run("--checkpoint", tmp_path / "state")) == 0
    assert outage.ids() == "01234"


def test_other_errors_are_no_outage(outage: Outage) -> None:
    write_lines(outage.file, EVENTS)
    outage.begins(errno.ENOTSUP)
    assert code_of(outage.run()) == 3
    assert outage.said() == f"streamlin: {outage.file} can't be read: Operation not supported\n"


@pytest.mark.parametrize("given", ["soon", "-1", "inf", "nan", ""])
def test_give_up_after_must_be_a_number(tmp_path: Path, given: str) -> None:
    stream = write_lines(tmp_path / "a.jsonl", EVENTS)
    assert refused("run", f"{stream}?give_up_after={given}") == (
        f"file source: give_up_after={given} needs to be a number of seconds, 0 or more"
    )
