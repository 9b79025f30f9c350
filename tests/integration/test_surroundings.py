"""What a process finds around it: signals, closed streams, locales, full disks, and files in the way."""

import errno
import fcntl
import json
import os
import pty
import signal
import stat
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamlin.checkpoint.file import CURRENT, Checkpoint, load
from streamlin.errors import CheckpointError
from tests.command_line import command_line, refused
from tests.integration.processes import (
    MODULE,
    PATIENCE,
    finish,
    refused_by_process,
    start,
    streamlin,
    until,
    with_small_files,
)
from tests.integration.streams import write_lines
from tests.locations import ROOT

QUICK = ("--learner", "perceptron", "--set", "pipeline.batch_size=20", "--set", "checkpoint.every_events=50")
SLOW = "synthetic://?events=100000&labels=3&seed=1&rate=400"
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of labels and words that are not ASCII."""
    folder = tmp_path_factory.mktemp("learned")
    events = [{"text": f"grün wört{i % 3}", "lábel": f"naïve–{i % 2}"} for i in range(40)]
    stream = write_lines(folder / "stream.jsonl", events)
    names = ("--set", "fields.label=lábel", "--set", "features.names=100")
    command_line("run", stream, "--checkpoint", folder / "state", *names, *QUICK)
    return folder / "state"


def learned_by(folder: Path) -> int:
    """Events in the checkpoint."""
    return int(load(folder)[1]["evaluation"]["events"]) if (folder / CURRENT).exists() else 0


def running(folder: Path, *, before: str = "", **how: object) -> "subprocess.Popen[bytes]":
    """A run that has written checkpoints and goes on for minutes."""
    process = start("run", SLOW, "--checkpoint", folder, *QUICK, before=before, **how)
    until(lambda: learned_by(folder) > 100, process)
    return process


def test_hangup_ends_a_run_as_sigterm_does(tmp_path: Path) -> None:
    process = running(tmp_path / "state")
    process.send_signal(signal.SIGHUP)
    done = finish(process)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{learned_by(tmp_path / 'state'):,} events")


def test_nohup_is_respected(tmp_path: Path) -> None:
    process = running(tmp_path / "state", before="import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)")
    process.send_signal(signal.SIGHUP)
    before = learned_by(tmp_path / "state")
    until(lambda: learned_by(tmp_path / "state") > before + 100, process)
    process.terminate()
    assert finish(process).code == 0


def test_a_closed_terminal_loses_nothing(tmp_path: Path) -> None:
    """The kernel sends SIGHUP, and nothing can be written to the terminal any more."""
    controller, terminal = pty.openpty()
    command = [*MODULE, "run", SLOW, "--checkpoint", str(tmp_path / "state"), *QUICK, "--log-format", "json"]
    command += ["--report", str(tmp_path / "report.json")]
    process = subprocess.Popen(
        command,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(terminal)
    until(lambda: learned_by(tmp_path / "state") > 100, process)
    os.close(controller)
    assert process.wait(PATIENCE) in (0, 3)
    assert learned_by(tmp_path / "state") == json.loads((tmp_path / "report.json").read_text())["events"]


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_named_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """None can be mounted everywhere: the call is made to fail as it does there."""

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(CheckpointError, match=f"can't be locked: {os.strerror(number)}"):
        Checkpoint(tmp_path)


def test_json_is_utf8_whatever_the_encoding(checkpoint: Path) -> None:
    for env in ({"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"}, ASCII):
        found = json.loads(streamlin("inspect", checkpoint, "--json", env=env, fresh=True).out)
        assert list(found["labels"]) == ["naïve–0", "naïve–1"]
        done = streamlin("explain", checkpoint, "grün wört1", "--json", env=env, fresh=True)
        explained = json.loads(done.out)
        assert explained["text"] == "grün wört1"
        assert explained["learners"]["perceptron"]["features"]


def test_arguments_are_their_bytes_in_an_ascii_locale(checkpoint: Path, tmp_path: Path) -> None:
    """Keys, texts, and names of files."""
    stream = write_lines(tmp_path / "gelöst.jsonl", [{"text": "a", "lábel": "b"}] * 3)
    report = tmp_path / "bericht–1.json"
    options = ("--set", "fields.label=lábel", "--report", report, "--learner", "perceptron")
    done = streamlin("run", stream, *options, env=ASCII, fresh=True)
    assert done.out.startswith("3 events · 1 label")
    assert json.loads(report.read_text())["labelled"] == 3


def test_tables_are_readable_in_ascii(checkpoint: Path) -> None:
    shown = streamlin("inspect", checkpoint, env={"PYTHONIOENCODING": "ascii"}, fresh=True).out
    assert shown.isascii()
    assert shown.startswith("checkpoint 2 | 40 events, 40 labelled")
    assert "na\\xefve-0" in shown
    assert "\\u2" not in shown


@pytest.mark.parametrize("command", [["run", "-"], ["explain", "STATE", "-"], ["predict", "STATE"]])
def test_a_closed_standard_input_is_one_line(checkpoint: Path, command: list[str]) -> None:
    arguments = [checkpoint if word == "STATE" else word for word in command]
    line = refused_by_process(*arguments, code=3, stdin=None, before="os.close(0)")
    assert line.startswith("standard input can't be read: ")


def test_a_closed_standard_output_takes_no_files_place(tmp_path: Path) -> None:
    """Predictions go nowhere: neither into the checkpoint nor into its lock, whose descriptor would be the free one."""
    stream = write_lines(tmp_path / "in.jsonl", [{"text": "a", "label": "b"}] * 3)
    state = tmp_path / "state"
    options = ("--checkpoint", state, "--predictions", "-", *QUICK)
    line = refused_by_process("run", stream, *options, code=3, before="os.close(1)")
    assert "standard output can't be written to" in line
    assert (state / "lock").read_bytes() == b""
    load(state)


@pytest.mark.parametrize("command", [["--help"], ["run", "--help"], ["--version"], ["connectors"]])
def test_a_full_standard_output_is_one_line(command: list[str]) -> None:
    with open("/dev/full", "w") as full:
        process = start(*command, stdout=full)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3
    assert err == b"streamlin: standard output can't be written to: No space left on device\n"


def test_a_file_in_the_place_of_a_package_is_named(tmp_path: Path) -> None:
    (tmp_path / "kafka.py").write_text("topics = []\n")
    process = subprocess.run(
        [sys.executable, "-m", "streamlin", "run", "kafka://127.0.0.1:1/topic"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 2
    assert process.stderr == (
        f"streamlin: kafka:// needs kafka-python, but {tmp_path}/kafka.py is found first, and is not it: "
        "rename that file\n"
    )


def test_another_package_called_connectors_is_named(tmp_path: Path) -> None:
    (tmp_path / "connectors").mkdir()
    (tmp_path / "connectors" / "__init__.py").write_text("class FileSource: ...\n")
    line = refused_by_process("run", "synthetic://", cwd=tmp_path, env={"PYTHONPATH": str(ROOT)})
    assert line.startswith(f"{tmp_path}/connectors/__init__.py is not streamlin's package 'connectors'")
    assert f"belongs in {ROOT}/connectors" in line


def test_interpreted_kernels_are_refused() -> None:
    """On some processors they would round differently than compiled ones."""
    line = refused_by_process("run", "synthetic://?events=10", env={"NUMBA_DISABLE_JIT": "1"})
    assert line.startswith("NUMBA_DISABLE_JIT: ")


@pytest.mark.parametrize("name", ["report.html", "report.json"])
def test_a_full_disk_under_a_report_leaves_no_new_file(tmp_path: Path, name: str) -> None:
    stream = write_lines(tmp_path / "in.jsonl", [{"text": f"a{i}", "label": f"b{i % 40}"} for i in range(300)])
    out = tmp_path / "out"
    out.mkdir()
    (out / name).write_text("an older one")
    done = with_small_files(2000, "run", stream, "--report", out / name, "--learner", "perceptron", code=3)
    assert "can't be written: File too large" in done.err
    assert os.listdir(out) == [name]
    assert (out / name).read_text() == "an older one"


def test_a_full_disk_under_waiting_texts_is_exit_3(tmp_path: Path) -> None:
    events = [{"id": str(i), "text": f"{'word ' * 500}{i}"} for i in range(1500)]
    stream, state = write_lines(tmp_path / "in.jsonl", events), tmp_path / "state"
    options = ("--late-labels", "--set", "delayed_labels.store=disk", "--checkpoint", state, *QUICK)
    done = with_small_files(1_000_000, "run", stream, *options, code=3)
    assert f"{state}/waiting.sqlite3 can't be written: " in done.err


@pytest.fixture
def planted(tmp_path: Path) -> Iterator[Path]:
    """A file that somebody would like to have overwritten."""
    path = tmp_path / "precious"
    path.write_text("precious")
    yield path
    assert path.read_text() == "precious"


@pytest.mark.parametrize("name", ["checkpoint.new", "link.new", ".report.json.new"])
def test_planted_links_are_replaced_not_followed(tmp_path: Path, planted: Path, name: str) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / name).symlink_to(planted)
    options = ("--checkpoint", state, "--report", state / "report.json", *QUICK)
    command_line("run", "synthetic://?events=200&labels=3", *options)
    assert learned_by(state) == 200
    assert not (state / name).is_symlink()


@pytest.mark.parametrize("name", ["lock", "waiting.sqlite3"])
def test_planted_links_to_files_that_stay_are_refused(tmp_path: Path, planted: Path, name: str) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / name).symlink_to(planted)
    options = ("--late-labels", "--set", "delayed_labels.store=disk", "--checkpoint", state, *QUICK)
    assert f"{name} is a symbolic link" in refused("run", "synthetic://?events=20", *options, code=3)


@pytest.mark.parametrize(
    ("told", "files", "folder"), [((), 0o600, 0o700), (("--set", "checkpoint.permissions=640"), 0o640, 0o750)]
)
def test_what_was_learned_is_private_unless_told(
    tmp_path: Path, told: tuple[str, ...], files: int, folder: int
) -> None:
    state, before = tmp_path / "state", os.umask(0)
    try:
        options = ("--late-labels", "--set", "delayed_labels.store=disk", "--checkpoint", state, *QUICK)
        command_line("run", "synthetic://?events=200&labels=3", *options, *told)
        found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in state.iterdir()}
        assert {"lock", CURRENT, "previous.safetensors", "waiting.sqlite3"} <= found.keys()
        assert set(found.values()) == {files}
        assert stat.S_IMODE(state.stat().st_mode) == folder
    finally:
        os.umask(before)


def test_an_old_processor_is_one_line(tmp_path: Path) -> None:
    """A numpy that finds the processor too old, with the words of the real one."""
    words = "NumPy was built with baseline optimizations: \n(X86_V2) but your machine doesn't support:\n(X86_V2)."
    (tmp_path / "numpy.py").write_text(f"raise RuntimeError({words!r})\n")
    line = refused_by_process("run", "synthetic://", cwd=tmp_path, env={"PYTHONPATH": str(ROOT)})
    assert line.startswith("a library can't be loaded: NumPy was built with baseline optimizations: (X86_V2) but")
