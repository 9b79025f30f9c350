"""News as JSON lines, for log collectors."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.command_line import Done, command_line
from tests.integration.conftest import Reference
from tests.integration.processes import finish, start
from tests.integration.streams import write_lines

SECRET = "the quick brown fox"


def logged(done: Done) -> list[dict[str, object]]:
    """Standard error as JSON lines, each with time, level and message."""
    lines = [json.loads(line) for line in done.err.splitlines()]
    for line in lines:
        assert abs(datetime.now(UTC) - datetime.fromisoformat(line["time"])) < timedelta(minutes=10)
        assert line["level"] in ("info", "error")
    return lines


def test_news_are_json_and_the_last_line_has_the_metrics(reference: Reference) -> None:
    """Dead letters as they come, then the counts and accuracies of the report; the summary stays a table."""
    done = finish(start("run", reference.stream, "--log-format", "json"), news=False)
    assert done.code == 0
    *lines, last = logged(done)
    whole = json.loads(reference.report.read_text())
    assert any(str(line["message"]).startswith("dead letter at ") for line in lines)
    assert str(last["message"]).startswith("done: 1,200 events · ")
    assert (last["events"], last["dead_letters"]) == (whole["events"], whole["dead_letters"])
    assert last["window_accuracy"] == {name: row["window_accuracy"] for name, row in whole["learners"].items()}
    assert done.out.startswith("1,200 events · ")


def test_predictions_on_standard_output_leave_no_table_among_json_lines(reference: Reference) -> None:
    arguments = ("run", reference.stream, "--dead-letters", "null://", "--predictions", "-", "--log-format", "json")
    done = finish(start(*arguments), news=False)
    assert len(logged(done)) >= 1
    assert len(done.out.splitlines()) == reference.events


def test_errors_are_json_lines_too(sms: Path) -> None:
    (line,) = logged(command_line("run", sms, "--log-format", "json", "--learner", "naive_bays", code=2))
    assert line["level"] == "error"
    assert line["message"] == "--learner naive_bays: no such learner; did you mean 'naive_bayes'?"
    done = command_line("run", sms, "--log-format", "xml", code=2)
    assert done.err == "streamlin: Invalid value for '--log-format': expected text or json, got xml\n"


def test_json_news_hold_no_text_of_events(tmp_path: Path) -> None:
    """Quotations of unreadable records, which plain lines have, are left out."""
    bad = [{"text": "a", "time": f"'{SECRET}' \" {number}"} for number in range(3)]
    stream = write_lines(tmp_path / "in.jsonl", [*bad, SECRET.encode(), {"text": SECRET, "label": "x"}])
    plain = command_line("run", stream)
    assert SECRET in plain.err
    done = command_line("run", stream, "--log-format", "json")
    assert SECRET not in done.err
    told = "".join(str(line["message"]) for line in logged(done))
    assert "time is '…', expected Unix seconds or RFC 3339" in told
    fatal = command_line(
        "run", stream, "--log-format", "json", "--set", "pipeline.max_consecutive_dead_letters=2", code=3
    )
    assert SECRET not in fatal.err
    assert "2 records in a row could not be read" in fatal.err
