"""Batch size and number of threads do not change any output."""

from pathlib import Path

import pytest

from tests.command_line import command_line
from tests.integration.streams import assert_same_state, content, measured, real_events, roughened, write_lines

EVERY = [("1", "1"), ("1", "2"), ("7", "1"), ("7", "3"), ("1000", "1"), ("1000", "2"), ("50", "5")]
"""Batch sizes and numbers of threads."""


def run(stream: Path, folder: Path, batch_size: str, threads: str) -> Path:
    """Run with every output that a run can have; its folder."""
    out = folder / f"{batch_size}-{threads}"
    out.mkdir()
    command_line(
        *("run", stream, "--slice-by", "label", "--set", "fields.categories=kind"),
        *("--set", f"pipeline.batch_size={batch_size}", "--set", f"pipeline.threads={threads}"),
        *("--predictions", out / "predictions.jsonl", "--dead-letters", out / "dead.jsonl"),
        *("--report", out / "report.json", "--checkpoint", out / "state"),
    )
    return out


@pytest.mark.parametrize(("name", "settings"), [("sms-spam", EVERY), ("clinc150", EVERY[1::2])])
def test_batch_size_and_threads_change_nothing(
    data: Path, tmp_path: Path, name: str, settings: list[tuple[str, str]]
) -> None:
    """Predictions, dead letters, report and weights are the same event by event and in batches of a thousand."""
    events = real_events(data / f"{name}.jsonl.gz", 1010)
    for number, event in enumerate(events):
        event["kind"] = str(number % 3)
    stream = write_lines(tmp_path / "stream.jsonl", roughened(events))
    first, *others = [run(stream, tmp_path, *how) for how in settings]
    assert content(first / "predictions.jsonl").count(b"\n") == len(events)
    assert measured(first / "report.json")["dead_letters"] == content(first / "dead.jsonl").count(b"\n") > 50
    for other in others:
        for lines in ("predictions.jsonl", "dead.jsonl"):
            assert content(other / lines) == content(first / lines), (other.name, lines)
        assert measured(other / "report.json") == measured(first / "report.json"), other.name
        assert_same_state(other / "state", first / "state")
