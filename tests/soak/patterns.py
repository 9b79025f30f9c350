"""Patterns that backtrack: the run goes on, and a second signal ends it."""

import signal
import time
from pathlib import Path

import pytest

from tests.integration.pages import address_of
from tests.integration.processes import PATIENCE, finish, start, until
from tests.integration.streams import json_lines
from tests.integration.test_slow_patterns import CATASTROPHIC
from tests.soak.measuring import measured, three_times

LEARNER = ("--learner", "perceptron")
SLOW = "a" * 35 + "\n"


@three_times
def test_lines_on_which_a_pattern_backtracks(tmp_path: Path, number: int) -> None:
    """Each is a dead letter; the lines between them are learned."""
    stream, out, dead = tmp_path / "in.log", tmp_path / "out.jsonl", tmp_path / "dead.jsonl"
    stream.write_text("ok first\n")
    outputs = ("--predictions", out, "--dead-letters", dead, "--metrics", 0)
    process = start("run", f"{stream}?{CATASTROPHIC}", "--follow", *outputs, *LEARNER)
    address_of(process)
    until(lambda: out.exists() and len(json_lines(out)) == 1, process)
    with measured("20 lines of 35 characters on which a pattern backtracks", process, 60):
        with stream.open("a") as file:
            file.write("".join(f"ok {i}\n{SLOW}" for i in range(20)) + "ok last\n")
        until(lambda: len(out.read_bytes().splitlines()) == 22, process)
    process.terminate()
    assert finish(process).code == 0
    assert [letter["text"] for letter in json_lines(dead)] == [SLOW.strip()] * 20


@three_times
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_inside_a_match_of_an_hour(tmp_path: Path, number: int, sent: signal.Signals) -> None:
    stream = tmp_path / "in.log"
    stream.write_text("ok\n" + "a" * 60 + "\n")
    process = start("run", f"{stream}?{CATASTROPHIC}&match_seconds=3600", *LEARNER, "--metrics", 0)
    address_of(process)
    with measured("a match of an hour", process, 60):
        time.sleep(1)  # it matches by now
        process.send_signal(sent)
        time.sleep(1)
        assert process.poll() is None
    process.send_signal(sent)
    assert process.wait(PATIENCE) == 130
