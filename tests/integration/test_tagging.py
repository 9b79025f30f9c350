"""Taggers through the command line: what is written, what a kill leaves, and what is refused."""

import gzip
import json
import random
import signal
import time
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.command_line import command_line, refused
from tests.integration.processes import finish, kill, start, until
from tests.integration.streams import assert_same_state, content, events_kept, json_lines, measured, write_lines

TAGGING = ("--task", "tagging")
TAGGERS = ["crf", "log_linear", "structured_perceptron", "hmm"]
SMALL = ("--set", "pipeline.batch_size=20", "--set", "checkpoint.every_events=30")


class Reference(NamedTuple):
    """A stream of sentences, and what an uninterrupted run over it has written."""

    stream: Path
    events: list[dict[str, Any]]
    predictions: Path
    dead_letters: Path
    report: Path
    checkpoint: Path


@pytest.fixture(scope="session")
def sentences(data: Path) -> list[dict[str, Any]]:
    """300 real sentences; some are texts, some have no tags, no id, a weight."""
    with gzip.open(data / "pos-ud-ewt.jsonl.gz", "rt", encoding="utf-8", newline="\n") as lines:
        events = [json.loads(line) for line in islice(lines, 300)]
    for number, event in enumerate(events):
        if number % 13 == 5:
            event["tags"] = None
        if number % 17 == 3:
            event["tags"] = [tag if i % 2 else None for i, tag in enumerate(event["tags"] or [])] or None
        if number % 19 == 4:
            event["weight"] = number % 3 / 2
        if number % 31 == 7:
            del event["id"]
        if number % 41 == 9:
            event["text"] = " ".join(event.pop("tokens"))
            del event["tags"]
        if number % 59 == 10:
            event["tokens"], event["tags"] = [], []
    return events


@pytest.fixture(scope="session")
def reference(sentences: list[dict[str, Any]], folder: Path) -> Reference:
    """An uninterrupted run of all taggers."""
    bad: list[Any] = [b'{"tokens": ["a"], "tags": []}', b'{"tokens": "a"}', b'{"tags": ["X"]}', b"\xff"]
    lines = [
        line for number, event in enumerate(sentences) for line in ([event], [event, bad[number % 4]])[number % 29 == 1]
    ]
    stream = write_lines(folder / "sentences.jsonl", lines)
    names = ("tags.jsonl", "tags.dead.jsonl", "tags.report.json", "tags.state")
    predictions, dead_letters, report, checkpoint = (folder / name for name in names)
    command_line(
        *("run", stream, *TAGGING, "--predictions", predictions, "--dead-letters", dead_letters),
        *("--report", report, "--checkpoint", checkpoint),
    )
    return Reference(stream, sentences, predictions, dead_letters, report, checkpoint)


def test_a_run_writes_a_line_for_each_sentence(reference: Reference) -> None:
    """Tags by every tagger for every token, the tags that are known, and places where the event was a text."""
    lines = json_lines(reference.predictions)
    assert len(lines) == len(reference.events)
    for line, event in zip(lines, reference.events, strict=True):
        assert line.get("id") == event.get("id")
        assert list(line["learners"]) == TAGGERS
        assert line["predicted"] in line["learners"].values()
        size = len(line["predicted"])
        assert {len(tags) for tags in line["learners"].values()} == {size}
        if "text" in event:
            words = [event["text"][begin:end] for begin, end in zip(line["start"], line["end"], strict=True)]
            assert "".join(words) == event["text"].replace(" ", "")
        else:
            assert size == len(event["tokens"])
            assert "start" not in line
        tags = event.get("tags")
        assert line.get("tags") == (tags if tags and any(tags) else None)


def test_the_report_counts_what_the_lines_say(reference: Reference) -> None:
    """Token accuracy by weight; sentences without tags or of weight 0 do not count."""
    report, hits, tokens = measured(reference.report), 0.0, 0.0
    for line, event in zip(json_lines(reference.predictions), reference.events, strict=True):
        for guess, tag in zip(line["learners"]["crf"], line.get("tags") or (), strict=False):
            hits += event.get("weight", 1) * (tag is not None and guess == tag)
            tokens += event.get("weight", 1) * (tag is not None)
    assert report["learners"]["crf"]["accuracy"] == pytest.approx(hits / tokens, abs=1e-6)
    assert report["events"] == len(reference.events)
    assert report["dead_letters"] == 11 == content(reference.dead_letters).count(b"\n")
    best = max(report["learners"][name]["accuracy"] for name in TAGGERS)
    assert best > report["baselines"]["commonest_tag"]["accuracy"] + 0.05


@pytest.mark.parametrize(("size", "threads"), [(1, 1), (7, 2), (7, 4), (100, 1)])
def test_batches_and_threads_change_no_byte(reference: Reference, tmp_path: Path, size: int, threads: int) -> None:
    predictions, report, state = (tmp_path / name for name in ("tags.jsonl", "report.json", "state"))
    command_line(
        *("run", reference.stream, *TAGGING, "--predictions", predictions, "--report", report, "--checkpoint", state),
        *("--set", f"pipeline.batch_size={size}", "--set", f"pipeline.threads={threads}"),
        *("--dead-letters", tmp_path / "dead.jsonl"),
    )
    assert content(predictions) == content(reference.predictions)
    assert measured(report) == measured(reference.report)
    assert_same_state(state, reference.checkpoint)


def test_a_run_killed_anywhere_resumes_exactly(reference: Reference, tmp_path: Path) -> None:
    """Twice, at random places of its output."""
    predictions, dead, report, state = (
        tmp_path / name for name in ("tags.jsonl", "dead.jsonl", "report.json", "state")
    )
    arguments = (
        *(*TAGGING, *SMALL, "--predictions", predictions, "--dead-letters", dead),
        *("--report", report, "--checkpoint", state),
    )
    chance = random.Random(1)
    for _ in range(2):
        process = start("run", f"{reference.stream}?rate=600", *arguments)
        size = written(predictions) + chance.randrange(1, reference.predictions.stat().st_size // 3)
        while written(predictions) < size and process.poll() is None:
            time.sleep(chance.random() / 100)
        kill(process)
        assert process.returncode == -signal.SIGKILL
    command_line("run", reference.stream, *arguments)
    assert content(predictions) == content(reference.predictions)
    assert content(dead) == content(reference.dead_letters)
    assert measured(report) == measured(reference.report)
    assert_same_state(state, reference.checkpoint)


def written(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def test_a_run_stopped_by_a_limit_goes_on(reference: Reference, tmp_path: Path) -> None:
    predictions, state = tmp_path / "tags.jsonl", tmp_path / "state"
    arguments = ("run", reference.stream, *TAGGING, "--predictions", predictions, "--checkpoint", state)
    for limit in (0, 1, 97):
        command_line(*arguments, "--limit", limit)
    command_line(*arguments)
    assert content(predictions) == content(reference.predictions)
    assert_same_state(state, reference.checkpoint)


def test_predict_uses_what_a_run_has_learned(reference: Reference) -> None:
    """It needs no task, learns nothing, and tags texts and tokens."""
    before = content(reference.checkpoint / "checkpoint.safetensors")
    stdin = b'{"tokens": ["The", "dog", "barks", "."]}\n{"text": "The dog barks."}\n'
    first, second = command_line("predict", reference.checkpoint, stdin=stdin).lines
    assert first["predicted"][0] == "DET"
    assert first["predicted"] == second["predicted"]
    assert (second["start"], second["end"]) == ([0, 4, 8, 13], [3, 7, 13, 14])
    assert content(reference.checkpoint / "checkpoint.safetensors") == before


def test_inspect_describes_a_checkpoint_of_taggers(reference: Reference) -> None:
    shown = command_line("inspect", reference.checkpoint).out
    assert all(name in shown for name in (*TAGGERS, "NOUN"))
    (whole,) = command_line("inspect", reference.checkpoint, "--json").lines
    assert whole["events"] == len(reference.events)
    assert "NOUN" in whole["labels"]


def test_columns_and_json_lines_give_the_same_tags(sentences: list[dict[str, Any]], tmp_path: Path) -> None:
    """Sentences with tags, as CoNLL's columns and as JSON lines."""
    whole = [e for e in sentences if e.get("tags") and None not in e["tags"] and "weight" not in e][:100]
    json_path = write_lines(tmp_path / "s.jsonl", [{key: e[key] for key in ("tokens", "tags")} for e in whole])
    blocks = ("\n".join(map("\t".join, zip(e["tokens"], e["tags"], strict=True))) for e in whole)
    (tmp_path / "s.conll").write_text("\n\n".join(blocks) + "\n")
    found = []
    for path in (json_path, tmp_path / "s.conll"):
        out = path.with_suffix(f"{path.suffix}.out.jsonl")
        command_line("run", path, *TAGGING, "--learner", "hmm", "--predictions", out)
        found.append([line["predicted"] for line in json_lines(out)])
    assert found[0] == found[1]
    assert len(found[0]) == len(whole) > 90


def test_probabilities_of_tokens_are_added_on_request(reference: Reference, tmp_path: Path) -> None:
    """One for each token; of a random field, none is below that of the sentence."""
    path = tmp_path / "tags.jsonl"
    command_line(
        *("run", reference.stream, *TAGGING, "--learner", "crf", "--set", "pipeline.token_confidence=true"),
        *("--predictions", path),
    )
    lines = [line for line in json_lines(path) if line["confidence"] is not None]
    assert len(lines) > 250
    for line in lines:
        assert len(line["token_confidence"]) == len(line["predicted"])
        assert min(line["token_confidence"]) >= line["confidence"] - 1e-3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("s.csv", *TAGGING), "format csv has no tokens and tags; task = 'tagging' needs json, text, regex or conll"),
        (("s.jsonl", *TAGGING, "--learner", "perceptron"), "not a learner of task = 'tagging'"),
        (("s.jsonl", "--learner", "crf"), "not a learner of task = 'classification'"),
        (("s.jsonl", "--task", "translation"), "task"),
    ],
)
def test_what_does_not_fit_the_task_is_refused(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    write_lines(tmp_path / "s.jsonl", [{"tokens": ["a"], "tags": ["X"]}])
    (tmp_path / "s.csv").write_text("text,label\na,x\n")
    assert says in refused("run", *arguments, cwd=tmp_path)


def test_a_checkpoint_belongs_to_its_task(reference: Reference, tmp_path: Path) -> None:
    """The message names the key."""
    line = refused("run", reference.stream, "--checkpoint", reference.checkpoint, code=4)
    assert "task" in line
    write_lines(tmp_path / "texts.jsonl", [{"text": "a", "label": "x"}])
    command_line("run", tmp_path / "texts.jsonl", "--checkpoint", tmp_path / "state")
    assert "task" in refused("run", reference.stream, *TAGGING, "--checkpoint", tmp_path / "state", code=4)


def test_too_many_tags_end_a_run(reference: Reference) -> None:
    line = refused("run", reference.stream, *TAGGING, "--learner", "hmm", "--set", "pipeline.max_labels=5")
    assert "pipeline.max_labels: found more than 5 tags" in line
    assert "fields.tags = 'tags'" in line


def test_columns_are_followed_as_they_are_written(tmp_path: Path) -> None:
    """A sentence counts once an empty line follows; a run that is killed in the middle of one reads it whole."""
    path, out, state = (tmp_path / name for name in ("words.conll", "tags.jsonl", "state"))
    arguments = (
        *("run", path, *TAGGING, "--learner", "hmm", "--follow", "--predictions", out, "--checkpoint", state),
        *("--set", "checkpoint.every_events=1"),
    )

    def sizes() -> list[int]:
        whole = out.read_bytes() if out.exists() else b""
        return [len(json.loads(line)["predicted"]) for line in whole[: whole.rfind(b"\n") + 1].splitlines()]

    with path.open("a", buffering=1) as words:
        words.write("The\tDET\ndog\tNOUN\n\nIt\tPRON\n")
        process = start(*arguments)
        until(lambda: sizes() == [2], process)
        until(lambda: events_kept(state) == 1, process)
        words.write("bar")
        kill(process)
        process = start(*arguments)
        words.write("ks\tVERB\n.\tPUNCT\n")
        words.write("\nYes\tINTJ\n")
        until(lambda: sizes() == [2, 3], process)
        process.send_signal(signal.SIGTERM)
        assert finish(process).code == 0
    assert sizes() == [2, 3]
    assert json_lines(out)[1]["tags"] == ["PRON", "VERB", "PUNCT"]
