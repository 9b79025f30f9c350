"""`--follow`: a log that another process writes and rotates while streamlin reads it."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.connectors.writer import Writer
from tests.integration.processes import finish, kill, start, until
from tests.integration.streams import content, events_kept, json_lines


class Follower:
    """A run that follows `log`, and where its predictions go."""

    def __init__(self, folder: Path, suffix: str = "") -> None:
        self.log, self.state, self.out = folder / "app.jsonl", folder / "state", folder / f"out.jsonl{suffix}"
        self.process = self.start()

    def start(self) -> "subprocess.Popen[bytes]":
        arguments = ("--follow", "--predictions", self.out, "--checkpoint", self.state, "--learner", "perceptron")
        self.process = start("run", self.log, *arguments, "--set", "checkpoint.every_events=1")
        return self.process

    def ids(self) -> list[str]:
        """Ids of the events whose predictions are written."""
        if not self.out.exists():
            return []
        text = self.out.read_bytes()
        return [json.loads(line)["id"] for line in text[: text.rfind(b"\n") + 1].splitlines()]

    def until(self, *numbers: int) -> None:
        """Wait until exactly these events are predicted."""
        expected = [str(number) for number in numbers]
        until(lambda: self.ids() == expected, self.process)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert finish(self.process).code == 0


@pytest.fixture
def follower(tmp_path: Path) -> Follower:
    return Follower(tmp_path)


def lines(*numbers: int) -> str:
    """Events, a line each."""
    return "".join(json.dumps({"id": number, "text": f"event {number}", "label": "x"}) + "\n" for number in numbers)


def test_lines_of_a_rotated_log_are_predicted_once_each(follower: Follower) -> None:
    """With a file that does not exist yet, a line in pieces, all kinds of rotation, a stop and a kill."""
    with Writer() as writer:
        until(follower.state.exists, follower.process)
        writer.open(follower.log)
        writer.write(lines(1, 2))
        follower.until(1, 2)
        writer.write(lines(3) + '{"id": 4, ')
        follower.until(1, 2, 3)
        writer.write('"text": "the rest"}\n')
        follower.until(1, 2, 3, 4)
        writer.rename(follower.log, f"{follower.log}.1")
        writer.write(lines(5))
        writer.open(follower.log)
        writer.write(lines(6))
        follower.until(1, 2, 3, 4, 5, 6)
        follower.stop()
        assert content(follower.out).count(b"\n") == 6
        writer.write(lines(7))
        writer.rename(follower.log, f"{follower.log}.2")
        writer.open(follower.log)
        writer.write(lines(8))
        follower.start()
        follower.until(1, 2, 3, 4, 5, 6, 7, 8)
        writer.copytruncate_and_write(follower.log, f"{follower.log}.3", lines(9))
        follower.until(1, 2, 3, 4, 5, 6, 7, 8, 9)
        until(lambda: events_kept(follower.state) == 9, follower.process)  # what is deleted before can't be read again
        writer.delete(follower.log)
        writer.open(follower.log)
        writer.write(lines(10))
        follower.until(*range(1, 11))
        kill(follower.process)
        follower.start()
        writer.write(lines(11))
        follower.until(*range(1, 12))
    follower.stop()


def test_compressed_predictions_are_readable_at_once(tmp_path: Path) -> None:
    """A gzip file is flushed when no more events come for a moment."""
    log, out = tmp_path / "app.log", tmp_path / "out.jsonl.gz"
    log.write_bytes(b"one\ntwo\n")
    process = start("run", log, "--follow", "--predictions", out)
    until(lambda: _readable(out) == [f"{log}:0", f"{log}:4"], process)
    process.send_signal(signal.SIGINT)
    assert finish(process).code == 0
    assert len(json_lines(out)) == 2


def test_follow_from_the_end_stops_at_a_limit(tmp_path: Path) -> None:
    log, out = tmp_path / "app.log", tmp_path / "out.jsonl"
    log.write_bytes(b"one\ntwo\n")
    process = start("run", f"{log}?start=end", "--follow", "--predictions", out, "--limit", 2)
    until(out.exists, process)
    with log.open("ab") as file:
        file.write(b"three\nfour\nfive\n")
    done = finish(process)
    assert (done.code, done.out[:8]) == (0, "2 events")
    assert [line["position"] for line in json_lines(out)] == [f"{log}:8", f"{log}:14"]


def _readable(out: Path) -> list[str]:
    """Positions of the predictions that `gzip -dc` reads from a file that is still written."""
    text = subprocess.run(["gzip", "-dcq", out], capture_output=True).stdout if out.exists() else b""
    return [json.loads(line)["position"] for line in text.splitlines()]


def test_a_quiet_run_writes_a_checkpoint_by_time(tmp_path: Path) -> None:
    """Few events and no end of the source: the checkpoint becomes due by time."""
    log, state = tmp_path / "app.jsonl", tmp_path / "state"
    log.write_text(lines(1, 2, 3))
    every = ("--set", "checkpoint.every_seconds=0.2")
    process = start("run", log, "--follow", "--checkpoint", state, "--learner", "perceptron", *every)
    until(lambda: events_kept(state) == 3, process)
    kill(process)
