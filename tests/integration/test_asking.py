"""Asking for labels from the command line: what is asked, exactly once, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from streamlin import Pipeline
from tests.command_line import command_line, refused
from tests.integration.processes import PATIENCE, start, until
from tests.integration.streams import assert_same_state, content, json_lines, measured, real_events, write_lines
from tests.integration.test_delayed_labels import streams

__all__ = ["streams"]

ASK = ("--late-labels", "--set", "ask.budget=0.1")


def arguments(folder: Path, source: object, *more: object) -> tuple[object, ...]:
    folder.mkdir(exist_ok=True)
    out = ("--predictions", folder / "out.jsonl", "--labels-wanted", folder / "wanted.jsonl")
    rest = ("--report", folder / "report.json", "--checkpoint", folder / "state", *more)
    return "run", source, "--set", "features.words.ngrams=[1, 1]", *ASK, *out, *rest


def test_what_is_asked_is_said_in_both_outputs(streams: dict[str, Path], tmp_path: Path) -> None:
    """A line for each asked event, with its text, its prediction, why, and the probability."""
    done = command_line(*arguments(tmp_path, streams["both"]))
    texts = {line["id"]: line["text"] for line in json_lines(streams["texts"])}
    predictions, wanted = json_lines(tmp_path / "out.jsonl"), json_lines(tmp_path / "wanted.jsonl")
    asked = [line for line in predictions if line["asked"]]
    assert [line["id"] for line in wanted] == [line["id"] for line in asked]
    assert 0.098 * len(predictions) < len(wanted) <= 0.1 * len(predictions) + 20
    assert [line["why"] for line in wanted[:21]] == ["first"] * 20 + [wanted[20]["why"]]
    for line, prediction in zip(wanted, asked, strict=True):
        assert list(line) == ["id", "text", "predicted", "confidence", "why", "probability"]
        assert line["text"] == texts[line["id"]]
        assert [line[key] for key in ("predicted", "confidence", "probability")] == [
            prediction[key] for key in ("predicted", "confidence", "probability")
        ]
        assert line["probability"] == 1 if line["why"] == "first" else 1 / 50 <= line["probability"] <= 1
    assert all(1 / 50 <= line["probability"] < 1 for line in predictions if not line["asked"])
    asked_at_random = sum(line["why"] == "random" for line in wanted)
    assert 0.3 * len(predictions) / 50 < asked_at_random <= len(predictions) / 50
    asking = measured(tmp_path / "report.json")["asking"]
    assert asking == {"budget": 0.1, "events": 4000, "asked": len(wanted), "answered": len(wanted)}
    assert f"{len(wanted)} of 4,000 labels were asked for, {len(wanted)} answered" in done.out
    assert "unweighted" in done.out


@pytest.mark.parametrize("changed", ["pipeline.batch_size=1", "pipeline.batch_size=7", "pipeline.threads=1"])
def test_batches_and_threads_change_nothing(changed: str, streams: dict[str, Path], tmp_path: Path) -> None:
    made = []
    for setting in ("pipeline.batch_size=500", changed):
        folder = tmp_path / setting.replace("=", "-")
        command_line(*arguments(folder, streams["both"], "--set", setting, "--limit", 1500))
        made.append((content(folder / "out.jsonl"), content(folder / "wanted.jsonl"), measured(folder / "report.json")))
    assert made[0] == made[1]


@pytest.mark.parametrize("store", ["memory", "disk"])
def test_a_killed_run_asks_exactly_once(streams: dict[str, Path], tmp_path: Path, store: str) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    often = ("--set", f"delayed_labels.store={store}", "--set", "pipeline.batch_size=64")
    often = (*often, "--set", "checkpoint.every_events=200")
    command_line(*arguments(whole, streams["both"], *often))
    for _ in range(2):
        process = start(*arguments(killed, f"{streams['both']}?rate=8000", *often))
        out = killed / "out.jsonl"
        before = len(content(out)) if out.exists() else 0
        until(lambda before=before, out=out: out.exists() and len(content(out)) > before + 70_000, process)
        process.kill()
        process.communicate(timeout=PATIENCE)
    command_line(*arguments(killed, streams["both"], *often, "--set", "pipeline.threads=1"))
    for name in ("out.jsonl", "wanted.jsonl"):
        assert content(killed / name) == content(whole / name)
    assert measured(killed / "report.json") == measured(whole / "report.json")
    assert_same_state(killed / "state", whole / "state")


def test_texts_can_be_hidden(streams: dict[str, Path]) -> None:
    done = command_line(
        *("run", streams["both"], *ASK, "--set", "ask.hide_text=true", "--labels-wanted", "-", "--limit", 5)
    )
    assert [list(line) for line in done.lines] == [["id", "predicted", "confidence", "why", "probability"]] * 5


def test_a_small_budget_is_warned_of(streams: dict[str, Path]) -> None:
    done = command_line("run", streams["both"], "--late-labels", "--set", "ask.budget=0.04", "--limit", 50)
    line = "ask.budget is under 0.05: metrics weighted by 1/probability rest on few events drawn at random, and may be "
    assert line in done.err
    assert line in done.out


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (["--labels-wanted", "-"], "sinks.labels_wanted: no label is asked for without ask.budget, such as 0.05"),
        (
            ["--set", "ask.budget=0.1", "--label-delay", "5"],
            "ask.budget: expected labels by id, --late-labels or --feedback, instead of delayed_labels.delay",
        ),
        (
            [*ASK, "--task", "tagging"],
            "ask.budget: not for task = 'tagging'; only labels of texts are asked for",
        ),
        (
            [*ASK, "--labels-wanted", "out.jsonl", "--predictions", "out.jsonl"],
            "sinks.labels_wanted: out.jsonl is also written (sinks.predictions: out.jsonl); write to another file",
        ),
        (
            [
                *ASK,
                *("--predictions", "kafka://127.0.0.1:1/a?transactional=a&group=g"),
                *("--labels-wanted", "kafka://127.0.0.1:1/b?transactional=b&group=g"),
            ],
            "sinks.labels_wanted: group=g is that of sinks.predictions; give another one",
        ),
    ],
)
def test_what_can_not_be_asked_is_refused(
    given: list[Any], line: str, streams: dict[str, Path], tmp_path: Path
) -> None:
    assert refused("run", streams["both"], *given, cwd=tmp_path) == line


def test_another_budget_is_another_configuration(streams: dict[str, Path], tmp_path: Path) -> None:
    command_line(*arguments(tmp_path, streams["both"], "--limit", 50))
    line = refused(*arguments(tmp_path, streams["both"], "--set", "ask.budget=0.2"), code=4)
    assert line.endswith("ask.budget: 0.1 in the checkpoint, 0.2 now")
    command_line(*arguments(tmp_path, streams["both"], "--set", "ask.hide_text=true", "--limit", 50))


def test_a_checkpoint_with_questions_predicts(streams: dict[str, Path], tmp_path: Path) -> None:
    command_line(*arguments(tmp_path, streams["both"], "--limit", 500))
    done = command_line("predict", tmp_path / "state", "-", stdin=b'{"id": "a", "text": "Ten things"}\n')
    assert list(done.lines[0])[:4] == ["id", "predicted", "confidence", "learners"]
    assert "naive_bayes" in command_line("inspect", tmp_path / "state").out


def test_asking_from_python(data: Path, tmp_path: Path) -> None:
    events = real_events(data / "sms-spam.jsonl.gz", 300)
    pipeline = Pipeline(ask={"budget": 0.1}, delayed_labels={"enabled": True}, pipeline={"batch_size": 1})
    for prediction in pipeline.run(write_lines(tmp_path / "texts.jsonl", ({**e, "label": None} for e in events))):
        assert prediction.label is None
    assert pipeline.metrics["asking"]["asked"] > 20
    assert json.dumps(pipeline.metrics)
