"""Delayed labels from the command line: in the same file, in another one, or held back in a replay."""

import json
import random
import signal
from pathlib import Path

import pytest

from streamlin.checkpoint.file import load
from tests.command_line import command_line, refused
from tests.integration.processes import PATIENCE, finish, start, until
from tests.integration.streams import assert_same_state, content, json_lines, measured, real_events, write_lines

EVENTS = 4000


@pytest.fixture(scope="module")
def streams(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """`both`: texts and later labels in one file; `texts` and `labels`: the same in two; `plain`: labels at once."""
    folder, dice = tmp_path_factory.mktemp("late"), random.Random(1)
    events = real_events(data / "clickbait.jsonl.gz", EVENTS)
    placed = []
    for place, event in enumerate(events):
        placed.append((place, 0, {"id": event["id"], "text": event["text"]}))
        placed.append((place + dice.expovariate(0.005), 1, {"id": event["id"], "label": event["label"]}))
    lines = [line for _, _, line in sorted(placed, key=lambda one: one[:2])]
    return {
        "both": write_lines(folder / "both.jsonl", lines),
        "texts": write_lines(folder / "texts.jsonl", [line for line in lines if "text" in line]),
        "labels": write_lines(folder / "labels.jsonl", [line for line in lines if "text" not in line]),
        "plain": write_lines(folder / "plain.jsonl", events),
    }


def arguments(folder: Path, source: object, *more: object) -> tuple[object, ...]:
    out = ("--predictions", folder / "out.jsonl", "--report", folder / "report.json", "--checkpoint", folder / "state")
    return "run", source, "--set", "features.words.ngrams=[1, 1]", *out, *more


def test_a_text_gets_one_line_and_learns_its_label(streams: dict[str, Path], tmp_path: Path) -> None:
    command_line(*arguments(tmp_path, streams["both"], "--late-labels"))
    report, lines = measured(tmp_path / "report.json"), json_lines(tmp_path / "out.jsonl")
    assert [line["id"] for line in lines] == [line["id"] for line in json_lines(streams["texts"])]
    assert not any("label" in line for line in lines)
    assert (report["events"], report["labelled"], report["unlabelled"]) == (EVENTS, EVENTS, 0)
    late = report["delayed_labels"]
    assert (late["joined"], late["waiting"]) == (EVENTS, 0)
    assert 100 < late["delay_events"]["median"] < 200 < late["delay_events"]["p95"] < 800
    labels = {line["id"]: line["label"] for line in json_lines(streams["labels"])}
    for name, row in report["learners"].items():
        assert row["correct"] == sum(line["learners"][name] == labels[line["id"]] for line in lines)
    plain = tmp_path / "plain"
    plain.mkdir()
    command_line(*arguments(plain, streams["plain"]))
    best = max(row["accuracy"] for row in measured(plain / "report.json")["learners"].values())
    assert best - 0.05 < max(row["accuracy"] for row in report["learners"].values()) < best


@pytest.mark.parametrize("store", ["memory", "disk"])
def test_a_killed_run_with_waiting_texts_resumes_exactly(streams: dict[str, Path], tmp_path: Path, store: str) -> None:
    """No waiting text is lost, and none is learned twice."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    often = (
        *("--late-labels", "--set", f"delayed_labels.store={store}"),
        *("--set", "pipeline.batch_size=64", "--set", "checkpoint.every_events=200"),
    )
    command_line(*arguments(whole, streams["both"], *often))
    for _ in range(3):
        process = start(*arguments(killed, f"{streams['both']}?rate=8000", *often))
        before = len(content(killed / "out.jsonl")) if (killed / "out.jsonl").exists() else 0
        until(
            lambda before=before: (
                (killed / "out.jsonl").exists() and len(content(killed / "out.jsonl")) > before + 50_000
            ),
            process,
        )
        process.kill()
        process.communicate(timeout=PATIENCE)
    command_line(*arguments(killed, streams["both"], *often, "--set", "pipeline.threads=1"))
    assert content(killed / "out.jsonl") == content(whole / "out.jsonl")
    assert measured(killed / "report.json") == measured(whole / "report.json")
    assert_same_state(killed / "state", whole / "state")


def test_labels_from_a_second_source_are_joined_by_id(streams: dict[str, Path], tmp_path: Path) -> None:
    """The sources are read in turn, so that files give the same result each time; both positions are kept."""
    runs = [tmp_path / name for name in ("first", "second", "stopped")]
    for folder in runs:
        folder.mkdir()
    for folder in runs[:2]:
        command_line(*arguments(folder, streams["texts"], "--feedback", streams["labels"]))
    first, second, stopped = runs
    assert content(first / "out.jsonl") == content(second / "out.jsonl")
    report = measured(first / "report.json")
    assert report == measured(second / "report.json")
    assert (report["events"], report["labelled"], report["delayed_labels"]["waiting"]) == (EVENTS, EVENTS, 0)
    for limit in (700, 1300, 5000):
        command_line(*arguments(stopped, streams["texts"], "--feedback", streams["labels"], "--limit", limit))
    joined = measured(stopped / "report.json")["delayed_labels"]
    assert (joined["joined"] + joined["early"], joined["repeated"]) == (EVENTS, 0)
    assert sum(line["id"] is not None for line in json_lines(stopped / "out.jsonl")) == EVENTS


def test_labels_appended_to_a_followed_file_are_learned(streams: dict[str, Path], tmp_path: Path) -> None:
    """New labels are learned although no texts come; a signal ends both sources."""
    labels = tmp_path / "labels.jsonl"
    labels.write_bytes(b"")
    process = start(
        *arguments(tmp_path, streams["texts"], "--feedback", labels, "--follow", "--set", "checkpoint.every_events=100")
    )
    until(lambda: (tmp_path / "out.jsonl").exists() and content(tmp_path / "out.jsonl").count(b"\n") == EVENTS, process)
    with labels.open("ab") as file:
        file.write(content(streams["labels"]))
    until(lambda: waiting(tmp_path) == 0, process)
    process.send_signal(signal.SIGTERM)
    assert finish(process).code == 0
    assert measured(tmp_path / "report.json")["delayed_labels"]["joined"] == EVENTS


def waiting(folder: Path) -> int:
    """The number of waiting texts in the last checkpoint."""
    _, state = load(folder / "state")
    return int(state["evaluation"]["events"] - state["delayed_labels"]["counts"]["joined"])


def test_label_delay_lowers_accuracy_and_leaves_labels_waiting(streams: dict[str, Path], tmp_path: Path) -> None:
    """Labels that come a thousand texts later help less."""
    accuracy = {}
    for delay in (0, 1000):
        folder = tmp_path / str(delay)
        folder.mkdir()
        command_line(*arguments(folder, streams["plain"], "--label-delay", delay))
        report = measured(folder / "report.json")
        accuracy[delay] = report["learners"]["naive_bayes"]["accuracy"]
        assert report["events"] - report["labelled"] == delay
    assert accuracy[1000] < accuracy[0]
    assert "delayed_labels" not in measured(tmp_path / "0" / "report.json")


def test_produce_writes_labels_without_texts_if_told(streams: dict[str, Path], tmp_path: Path) -> None:
    """For example to a topic of their own; without the setting, a record without text is an error."""
    out = tmp_path / "out.jsonl"
    done = command_line("produce", streams["labels"], out, "--set", "delayed_labels.enabled=true")
    assert done.out == f"{EVENTS:,} messages\n"
    assert content(out) == content(streams["labels"])
    assert "field 'text' is missing" in command_line("produce", streams["labels"], tmp_path / "none.jsonl", code=3).err


def test_what_delayed_labels_cannot_be_combined_with(streams: dict[str, Path], tmp_path: Path) -> None:
    plain = streams["plain"]
    assert "delayed_labels.delay" in refused(*arguments(tmp_path, plain, "--label-delay", 10, "--late-labels"))
    assert "json, csv or tsv" in refused("run", "-?format=text", "--late-labels")
    assert "delayed_labels.unknown" in refused("run", plain, "--late-labels", "--set", "delayed_labels.unknown=keep")
    assert "source.url" in refused("run", "--feedback", streams["labels"])


def test_predict_skips_records_that_are_only_labels(streams: dict[str, Path], tmp_path: Path) -> None:
    command_line(*arguments(tmp_path, streams["both"], "--late-labels"))
    done = command_line("predict", tmp_path / "state", streams["both"], "--predictions", "-")
    assert len(done.lines) == EVENTS
    assert json.loads(done.out.splitlines()[0])["predicted"] is not None
