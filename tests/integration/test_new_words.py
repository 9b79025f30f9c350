"""New words through the command line: the line, the report, prediction lines, resuming, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import command_line, refused
from tests.integration.streams import assert_same_state, content, json_lines, measured, write_lines
from tests.naive_novelty import NaiveNovelty

ON = ("--set", "evaluation.novelty=true", "--set", "pipeline.novelty=true")
ASKED = (*ON, "--learner", "naive_bayes")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """400 texts of words that soon are known, then nine with new ones; some have no word, weight 0, or a label."""
    events: list[dict[str, Any]] = [{"text": f"disk {'abc'[i % 3]} of host{i % 30} is full"} for i in range(400)]
    events += [{"text": f"link eth{i} flaps"} for i in range(9)]
    for number, event in enumerate(events):
        event |= {"label": "xy"[number % 2]} if number % 5 == 0 else {}
    events[200] |= {"text": "words of an event of weight 0", "weight": 0}
    events[300]["text"] = "…"
    return write_lines(tmp_path / "log.jsonl", events)


def test_told_reported_and_on_the_lines_as_the_twin_has_it(log: Path, tmp_path: Path) -> None:
    predictions, report = tmp_path / "predictions.jsonl", tmp_path / "report.json"
    done = command_line("run", log, *ASKED, "--predictions", predictions, "--report", report)
    twin = NaiveNovelty()
    shares = [
        twin.add([word for word in event["text"].lower().split() if word != "…"], event.get("weight", 1) > 0)
        for event in json_lines(log)
    ]
    assert [line["novelty"] for line in json_lines(predictions)] == [
        None if share is None else round(share, 6) for share in shares
    ]
    (event, before, after), *more = twin.alarms
    assert 400 <= event < 409
    assert not more
    says = f"new words: {100 * before:.1f} to {100 * after:.1f} % of the tokens, seen at event {event + 1} ({log}:"
    assert done.err.startswith(f"streamlin: {says}")
    assert f"new words: 1 alarm, last at event {event + 1}: {100 * before:.2f} % to {100 * after:.2f} %" in done.out
    told = json.loads(report.read_text())["novelty"]
    assert [alarm["event"] - 1 for alarm in told["last_alarms"]] == [event]
    assert (told["share"], told["curve"]["events"][-1] <= 408) == (twin.share(), True)


def test_stopped_anywhere_the_rest_is_the_same(log: Path, tmp_path: Path) -> None:
    """Whole, and in three runs of other batches on one thread, the last of which begins during the change."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder, limits, more in (
        (whole, [409], ()),
        (parts, [150, 252, 7], ("--set", "pipeline.batch_size=7", "--set", "pipeline.threads=1")),
    ):
        folder.mkdir()
        for limit in limits:
            command_line(
                *("run", log, *ASKED, *more, "--limit", limit, "--checkpoint", folder / "state"),
                *("--predictions", folder / "predictions.jsonl", "--report", folder / "report.json"),
            )
    assert content(parts / "predictions.jsonl") == content(whole / "predictions.jsonl")
    assert measured(parts / "report.json") == measured(whole / "report.json")
    assert_same_state(parts / "state", whole / "state")


def test_predicting_counts_nothing(log: Path, tmp_path: Path) -> None:
    state, out = tmp_path / "state", tmp_path / "out.jsonl"
    command_line("run", log, *ASKED, "--checkpoint", state)
    before = {path: content(path) for path in state.iterdir() if path.is_file()}
    events = write_lines(tmp_path / "more.jsonl", [{"text": "link down"}] * 2)
    command_line("predict", state, events, "--predictions", out)
    assert [line["novelty"] for line in json_lines(out)] == [0.5, 0.5]
    assert before
    assert before == {path: content(path) for path in before}


def test_sentences_of_taggers_count_too(tmp_path: Path) -> None:
    sentences = [
        {"tokens": ["The", "dog"], "tags": ["D", "N"]},
        {"tokens": ["The", "cat", "sat", "the"]},
        {"tokens": []},
    ]
    path, out = write_lines(tmp_path / "s.jsonl", sentences), tmp_path / "out.jsonl"
    arguments = ("run", path, "--task", "tagging", "--learner", "hmm", *ON)
    command_line(*arguments, "--predictions", out, "--report", tmp_path / "report.json")
    assert [line["novelty"] for line in json_lines(out)] == [1.0, 0.75, None]
    told = json.loads((tmp_path / "report.json").read_text())["novelty"]
    assert (told["tokens"], told["new"]) == (6, 5)


def test_sentences_of_parsers_count_too(tmp_path: Path) -> None:
    sentences = [
        {"tree": "(S (NP (D The) (N dog)) (V barks))"},
        {"tokens": ["The", "cat"]},
        {"tree": "(S (NP (D The) (N dog)) (V barks))", "weight": 0},
    ]
    path, out = write_lines(tmp_path / "s.jsonl", sentences), tmp_path / "out.jsonl"
    arguments = ("run", path, "--task", "parsing", *ON, "--predictions", out, "--report", tmp_path / "report.json")
    command_line(*arguments)
    assert [line["novelty"] for line in json_lines(out)] == [1.0, 0.5, 0.0]
    assert json.loads((tmp_path / "report.json").read_text())["novelty"]["tokens"] == 5


def test_late_labels_count_no_text_twice(tmp_path: Path) -> None:
    """A record that is a label alone is no text, and the text that it belongs to was counted when it came."""
    events = [
        {"id": "1", "text": "a b"},
        {"id": "2", "text": "a c"},
        {"id": "1", "label": "x"},
        {"id": "3", "text": "d"},
    ]
    path, out = write_lines(tmp_path / "s.jsonl", events), tmp_path / "out.jsonl"
    command_line("run", path, "--late-labels", *ASKED, "--predictions", out, "--report", tmp_path / "report.json")
    assert [line["novelty"] for line in json_lines(out)] == [1.0, 0.5, 1.0]
    assert json.loads((tmp_path / "report.json").read_text())["novelty"]["tokens"] == 5


def test_nothing_of_it_is_there_unless_asked_for(log: Path, tmp_path: Path) -> None:
    done = command_line("run", log, "--learner", "naive_bayes", "--report", tmp_path / "report.json")
    assert "new words" not in done.err + done.out
    assert "novelty" not in json.loads((tmp_path / "report.json").read_text())
    assert "pipeline.novelty: needs evaluation.novelty = true" in refused("run", log, "--set", "pipeline.novelty=true")
    config = tmp_path / "config.toml"
    config.write_text('[[learners]]\nkind = "naive_bayes"\nname = "novelty"\n')
    assert "learners: the name 'novelty' is reserved" in refused("run", log, "--config", config, *ON)
