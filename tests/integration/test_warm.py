"""`streamlin warm`, and a first start."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.command_line import environment, refused
from tests.integration.processes import refused_by_process, start, until

NEWS = "compiling kernels that are new to this machine"
EVENTS = "".join(f'{{"id": "{i}", "text": "text {i % 7} {i % 3}", "label": "{i % 3}"}}\n' for i in range(1200))


@pytest.fixture
def events(tmp_path: Path) -> Path:
    path = tmp_path / "events.jsonl"
    path.write_text(EVENTS)
    return path


def printed(*arguments: object, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> tuple[str, str]:
    """What a new process prints to standard output and error."""
    with start(*arguments, fresh=True, env=env, cwd=cwd) as process:
        out, err = process.communicate()
    assert process.returncode == 0, err
    return out.decode(), err.decode()


def test_after_warming_no_command_compiles(tmp_path: Path, events: Path) -> None:
    count, words = printed("warm")[0].split(" ", 1)
    assert int(count) > 80
    assert words.startswith("compiled kernels in /")
    for arguments in ((), ("--preset", "accurate"), ("--slice-by", "id", "--checkpoint", "state")):
        assert NEWS not in printed("run", events, *arguments, cwd=tmp_path)[1]
    long, sentences = tmp_path / "long.jsonl", tmp_path / "sentences.jsonl"
    long.write_text(EVENTS * 150)  # 8 MB: the first six are read without kernels as long as these are not compiled
    sentences.write_text(6000 * '{"id": "1", "tokens": ["one", "two", "three"], "tags": ["N", "N", "O"]}\n')
    assert NEWS not in printed("run", long, "--predictions", tmp_path / "lines.jsonl")[1]
    assert NEWS not in printed("run", sentences, "--task", "tagging", "--predictions", tmp_path / "tags.jsonl")[1]


def test_a_first_start_predicts_what_any_start_predicts(tmp_path: Path, events: Path) -> None:
    """While kernels are compiled, Python does what they will do; the process that compiles ends by itself.

    It imports nothing from the folder that it starts in.
    """
    command, env = ("run", events, "--learner", "perceptron"), {"NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    (cwd := tmp_path / "elsewhere").mkdir()
    for name in ("streamlin", "numba", "random"):
        (cwd / f"{name}.py").write_text("raise SystemExit")
    script, output = Path(sys.executable).with_name("streamlin"), ("--predictions", str(tmp_path / "first.jsonl"))
    first_start = [script, *map(str, command), *output]
    done = subprocess.run(first_start, cwd=cwd, env=environment(env), check=True, capture_output=True, text=True)
    told = done.stderr
    assert told.startswith(f"streamlin: {NEWS}, beside the run")
    assert told.count("compiling") == 1
    printed(*command, "--predictions", tmp_path / "second.jsonl", env=env)
    until(lambda: not _is_mentioned(str(tmp_path).encode()))
    assert NEWS not in printed(*command, "--predictions", tmp_path / "third.jsonl", env=env)[1]
    assert [*tmp_path.rglob("*/calibration.calibrate*.nbc")]
    first, second, third = ((tmp_path / f"{which}.jsonl").read_bytes() for which in ("first", "second", "third"))
    assert first == second == third


def test_warm_without_a_place_for_kernels_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    line = refused_by_process("warm", env={"NUMBA_CACHE_DIR": str(tmp_path / "file")}, fresh=True)
    assert "can't be written to, so compiled kernels can't be kept; NUMBA_CACHE_DIR names another folder" in line


def test_warm_names_the_tasks() -> None:
    assert "expected one of classification, tagging, topics, parsing, got 'tags'" in refused("warm", "--task", "tags")


def _is_mentioned(text: bytes) -> bool:
    """Whether a process has the text in its environment."""
    return any(text in _content(path) for path in Path("/proc").glob("[0-9]*/environ"))


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended
        return b""
