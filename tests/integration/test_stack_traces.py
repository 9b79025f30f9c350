"""Logs with events of several lines: `multiline=`, and what the run says without it."""

import json
import signal
from pathlib import Path

from tests.command_line import command_line, refused
from tests.integration.processes import finish, kill, start, until
from tests.integration.streams import json_lines, write_lines

PATTERN = r"(?P<time>\d+) (?P<label>\w+) (?P<text>.*)"
URL = "{}?format=regex&pattern=" + PATTERN
JOINED = URL + r"&multiline=\d"


def trace(number: int, lines: int = 3) -> str:
    """An event of several lines."""
    return f"{number} ERROR failed\n" + "".join(f"\tat step {i}\n" for i in range(lines))


def test_many_lines_that_do_not_match_name_the_key_and_the_option(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text("1 INFO fine\n" + trace(2, 1024) + "3 INFO fine\n")
    told = command_line("run", URL.format(log), code=3).err
    assert "pipeline.max_consecutive_dead_letters is the limit; lines that continue the one before" in told
    assert "multiline=PATTERN" in told
    done = command_line("run", JOINED.format(log) + "&multiline_lines=2000", "--predictions", tmp_path / "out")
    assert "3 events" in done.out
    assert "0 dead letters" in done.out


def test_a_followed_trace_is_read_once_it_is_complete(tmp_path: Path) -> None:
    """By whichever process; a stop and a kill in the middle of one lose and double nothing."""
    log, out, state = tmp_path / "app.log", tmp_path / "out.jsonl", tmp_path / "state"
    arguments = ("--follow", "--predictions", out, "--checkpoint", state, "--learner", "perceptron")
    arguments = (*arguments, "--set", "checkpoint.every_events=1")

    def positions() -> list[str]:
        text = out.read_bytes() if out.exists() else b""
        return [json.loads(line)["position"] for line in text[: text.rfind(b"\n") + 1].splitlines()]

    def write(text: str) -> None:
        with log.open("a") as file:
            file.write(text)

    expected = [f"{log}:{len(trace(1)) * i}" for i in range(5)]
    write(trace(1) + "2 ERROR failed\n\tat step 0\n")
    process = start("run", JOINED.format(log), *arguments)
    until(lambda: positions() == expected[:1], process)
    process.send_signal(signal.SIGTERM)
    assert finish(process).code == 0
    write("\tat step 1\n\tat step 2\n" + trace(3)[:20])
    process = start("run", JOINED.format(log), *arguments)
    until(lambda: positions() == expected[:2], process)
    kill(process)
    write(trace(3)[20:] + trace(4))
    process = start("run", JOINED.format(log), *arguments)
    until(lambda: positions() == expected[:3], process)
    log.rename(tmp_path / "app.log.1")
    write("5 INFO fine\n")
    until(lambda: positions() == expected[:4], process)
    process.send_signal(signal.SIGTERM)
    assert finish(process).code == 0
    done = command_line("run", JOINED.format(tmp_path / "app.log.1"), "--checkpoint", tmp_path / "other")
    assert "4 events" in done.out


def test_traces_of_standard_input_are_joined(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = JOINED.format("-")
    command_line("run", options, "--predictions", out, stdin=(trace(1) + trace(2)).encode())
    assert [line["position"] for line in json_lines(out)] == ["-:0", f"-:{len(trace(1))}"]


def test_multiline_is_an_option_of_lines_only(tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "a.jsonl", [{"text": "a"}])
    assert "'multiline' is an option of format=regex and format=text" in refused("run", f"{lines}?multiline=x")
    url = "kafka://127.0.0.1:9/topic?format=text&multiline=x"
    assert "kafka: multiline joins the lines of files; each message is an event" in refused("run", url)
