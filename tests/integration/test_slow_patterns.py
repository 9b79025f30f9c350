"""Patterns that backtrack: a slow line is a dead letter, and signals are heeded meanwhile."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.command_line import command_line
from tests.integration.processes import PATIENCE, finish, start, until
from tests.integration.streams import json_lines

CATASTROPHIC = "format=regex&pattern=(?P<text>(a|a)*b|ok.*)"


def test_a_slow_line_is_a_dead_letter_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "in.log").write_text("".join(f"ok {i}\n" for i in range(50)) + "a" * 35 + "\nok last\n")
    out, dead = tmp_path / "out.jsonl", tmp_path / "dead.jsonl"
    command_line("run", f"{tmp_path}/in.log?{CATASTROPHIC}", "--predictions", out, "--dead-letters", dead)
    assert len(json_lines(out)) == 51
    (letter,) = json_lines(dead)
    assert letter["error"] == "the pattern needs longer than match_seconds=0.25 for the line"
    assert letter["text"] == "a" * 35


def processor_seconds(pid: int) -> float:
    """What a process has used of the processor, by `man proc_pid_stat`."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_second_signal_ends_a_run_at_once(tmp_path: Path, threads: int, number: signal.Signals) -> None:
    """Even inside a match of an hour; the first one waits for it."""
    (tmp_path / "in.log").write_text("ok\n" * 3 + "a" * 60 + "\n")
    log = tmp_path / "log"
    with log.open("wb") as file:
        process = start(
            *("run", f"{tmp_path}/in.log?{CATASTROPHIC}&match_seconds=3600", "--learner", "perceptron"),
            *("--set", f"pipeline.threads={threads}", "--metrics", 0),
            stdout=subprocess.DEVNULL,
            stderr=file,
        )
        until(lambda: b"metrics are at" in log.read_bytes(), process)
        begin = processor_seconds(process.pid)
        until(lambda: processor_seconds(process.pid) > begin + 1.5, process)  # nothing else takes so long
        process.send_signal(number)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(number)
        assert process.wait(PATIENCE) == 130
    assert b"Traceback" not in log.read_bytes()


def test_one_signal_ends_a_run_behind_the_line_it_matches(tmp_path: Path) -> None:
    """In good order: what came before the batch with the slow lines is saved."""
    stream = tmp_path / "in.log"
    stream.write_text("".join(f"ok {i}\n" for i in range(10)))
    arguments = ("run", f"{stream}?{CATASTROPHIC}", "--follow", "--checkpoint", tmp_path / "state", "--metrics", 0)
    process = start(*arguments, "--learner", "perceptron", "--predictions", tmp_path / "out.jsonl")
    until(lambda: (tmp_path / "out.jsonl").exists() and len(json_lines(tmp_path / "out.jsonl")) == 10, process)
    with stream.open("a") as file:
        file.write("".join("a" * (35 + i) + "\n" for i in range(1000)))  # hours, if nothing could stop it
    time.sleep(0.5)
    process.terminate()
    assert finish(process).code == 0
    assert command_line("inspect", tmp_path / "state", "--json").lines[0]["events"] == 10
