"""A replay at its own or a given pace is complete and in order, and can be stopped at any time."""

import signal
from pathlib import Path

from tests.command_line import command_line
from tests.integration.conftest import Reference
from tests.integration.processes import finish, start, until
from tests.integration.streams import content, measured, write_lines


def test_a_paced_run_gives_the_same_results(reference: Reference, tmp_path: Path) -> None:
    """By rate, and by the times of the events: a week in a moment."""
    out, dead, report = (tmp_path / name for name in ("out", "dead", "report"))
    timed = write_lines(
        tmp_path / "timed.jsonl",
        [{"id": n, "text": f"word{n % 7}", "label": "ab"[n % 2], "time": 1e9 + 2000 * n} for n in range(300)],
    )
    places = ("--predictions", out, "--dead-letters", dead, "--report", report)
    command_line("run", f"{reference.stream}?rate=3000", *places)
    command_line("run", f"{timed}?speed=1000000", "--predictions", tmp_path / "fast")
    command_line("run", timed, "--predictions", tmp_path / "at once")
    assert content(out) == content(reference.predictions)
    assert content(dead) == content(reference.dead_letters)
    assert measured(report) == measured(reference.report)
    assert content(tmp_path / "fast") == content(tmp_path / "at once")


def test_a_signal_ends_the_wait_for_the_next_event(tmp_path: Path) -> None:
    """The second event is due in a day, and a dead letter that ends the run follows: neither is reached."""
    stream = write_lines(tmp_path / "in.jsonl", [{"text": "a", "time": 0}, {"text": "b", "time": 86400}, b"bad"])
    arguments = (
        "--predictions",
        tmp_path / "out",
        "--checkpoint",
        tmp_path / "state",
        "--dead-letters",
        tmp_path / "dead",
    )
    process = start("run", f"{stream}?speed=1", *arguments, "--set", "pipeline.max_consecutive_dead_letters=1")
    until(lambda: (tmp_path / "out").exists() and content(tmp_path / "out"), process)
    process.send_signal(signal.SIGTERM)
    assert finish(process).code == 0
    assert content(tmp_path / "out").count(b"\n") == 1
    command_line("run", stream, *arguments)
    assert content(tmp_path / "out").count(b"\n") == 2
    assert content(tmp_path / "dead").count(b"\n") == 1
