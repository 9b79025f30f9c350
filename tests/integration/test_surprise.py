"""The language model through the command line: lines, report, resuming, and what is refused."""

import json
import random
import signal
import time
from pathlib import Path

import pytest

from tests.command_line import command_line, refused
from tests.integration.processes import kill, start
from tests.integration.streams import assert_same_state, content, json_lines, measured, real_events, write_lines
from tests.naive_surprise import NaiveLanguageModel

ASKED = ("--learner", "naive_bayes", "--set", "surprise.by_label=true")


@pytest.fixture
def stream(data: Path, tmp_path: Path) -> Path:
    """150 questions; some of weight 0 or without words."""
    events = real_events(data / "trec-6.jsonl.gz", 150)
    events[20] |= {"weight": 0}
    events[40] |= {"text": "?"}
    return write_lines(tmp_path / "stream.jsonl", events)


@pytest.mark.parametrize("model", ["kneser_ney", "witten_bell"])
def test_stopped_anywhere_the_rest_is_the_same_and_as_the_twin_has_it(stream: Path, tmp_path: Path, model: str) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder, limits, slices in (
        (whole, [150], ()),
        (parts, [30, 77, 43], ("--set", "pipeline.batch_size=7", "--set", "pipeline.threads=1")),
    ):
        folder.mkdir()
        for limit in limits:
            command_line(
                *("run", stream, *ASKED, *slices, "--set", f"surprise.model={model}", "--limit", limit),
                *("--checkpoint", folder / "state", "--report", folder / "report.json"),
                *("--predictions", folder / "predictions.jsonl"),
            )
    assert content(parts / "predictions.jsonl") == content(whole / "predictions.jsonl")
    assert measured(parts / "report.json") == measured(whole / "report.json")
    assert_same_state(parts / "state", whole / "state")
    twin = NaiveLanguageModel(model)
    for event, line in zip(json_lines(stream), json_lines(whole / "predictions.jsonl"), strict=True):
        words = [word for word in "".join(c if c.isalnum() else " " for c in event["text"].lower()).split() if word]
        bits = twin.bits(words)
        assert line["surprise"] == (None if bits is None else pytest.approx(bits, abs=1e-6))
        if event.get("weight", 1):
            twin.learn(words)
    told = json.loads((whole / "report.json").read_text())["surprise"]
    assert (told["pairs"], told["words"]) == (len(twin.pairs), len(twin.words()))
    assert told["by_label"].keys() == {event["label"] for event in json_lines(stream)}
    more, out = write_lines(tmp_path / "more.jsonl", [{"text": "What is a"}]), tmp_path / "out.jsonl"
    command_line("predict", whole / "state", more, "--predictions", out)
    assert json_lines(out)[0]["surprise"] == pytest.approx(twin.bits(["what", "is", "a"]), abs=1e-6)


def test_killed_anywhere_both_measures_resume_exactly(sms: Path, tmp_path: Path) -> None:
    """Killed twice at random places of the output; tables grow, and are full in the end."""
    chance, whole, parts = random.Random(6), tmp_path / "whole", tmp_path / "parts"
    model = ("--set", "surprise.model=kneser_ney", "--set", "surprise.max_pairs=8_000")
    more = ("--set", "evaluation.novelty=true", "--set", "pipeline.novelty=true", "--set", "checkpoint.every_events=50")

    def arguments(folder: Path, pace: str = "") -> list[object]:
        folder.mkdir(exist_ok=True)
        places = ("--checkpoint", folder / "state", "--predictions", folder / "predictions.jsonl")
        return ["run", f"{sms}{pace}", *ASKED, *model, *more, *places, "--report", folder / "report.json"]

    command_line(*arguments(whole))
    for _ in range(2):
        process = start(*arguments(parts, "?rate=600"))
        predictions = parts / "predictions.jsonl"
        size = chance.randrange(1, 100_000) + (predictions.stat().st_size if predictions.exists() else 0)
        while process.poll() is None and not (predictions.exists() and predictions.stat().st_size >= size):
            time.sleep(chance.random() / 100)
        kill(process)
        assert process.returncode == -signal.SIGKILL
    command_line(*arguments(parts))
    assert content(parts / "predictions.jsonl") == content(whole / "predictions.jsonl")
    assert measured(parts / "report.json") == measured(whole / "report.json")
    assert measured(whole / "report.json")["surprise"]["pairs"] == 8_000
    assert_same_state(parts / "state", whole / "state")


def test_full_tables_are_one_line(stream: Path, tmp_path: Path) -> None:
    asked = ("--set", "surprise.model=kneser_ney", "--set", "surprise.max_pairs=100")
    done = command_line("run", stream, *ASKED, *asked, "--report", tmp_path / "report.json")
    line = "surprise.max_pairs: there are 100 pairs of words, further ones are ignored"
    assert done.err.count(line) == 1
    assert "surprise: " in done.out
    assert json.loads((tmp_path / "report.json").read_text())["surprise"]["pairs"] == 100


def test_what_does_not_fit_is_refused(stream: Path) -> None:
    model = ("--set", "surprise.model=kneser_ney")
    assert "surprise.model: not for task = 'tagging'" in refused("run", stream, "--task", "tagging", *model)
    assert "surprise.by_label: needs" in refused("run", stream, *model, *ASKED, "--label-delay", 5)
    assert "surprise.by_label: needs" in refused("run", stream, *ASKED)
