"""Tags that come later than their sentences, from the command line: in the same file, in another one, or held back."""

import json
import random
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import command_line, refused
from tests.integration.processes import PATIENCE, finish, start, until
from tests.integration.streams import assert_same_state, content, json_lines, measured, real_events, write_lines

EVENTS = 600
TAGGING = ("--task", "tagging", "--learner", "crf", "--learner", "hmm")
STORES = pytest.mark.parametrize("store", ["memory", "disk"])


@pytest.fixture(scope="module")
def streams(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """`both`: sentences and later tags in one file; `sentences` and `tags`: the same in two; `plain`: tags at once.

    Some tags are unknown; some come twice, or are of the wrong length at first.
    """
    folder, dice = tmp_path_factory.mktemp("late"), random.Random(1)
    placed: list[tuple[float, int, dict[str, Any]]] = []
    events = real_events(data / "pos-ud-ewt.jsonl.gz", EVENTS)
    for place, event in enumerate(events):
        if place % 9 == 2:
            event["tags"] = [tag if i % 3 else None for i, tag in enumerate(event["tags"])]
            event["tags"][-1] = "PUNCT"
        event |= {"text": " ".join(event.pop("tokens"))} if place % 10 == 4 and event["tokens"][0].isalpha() else {}
        given = {"tokens": event["tokens"]} if "tokens" in event else {"text": event["text"]}
        placed.append((place, 0, {"id": event["id"], **given}))
    for place, event in enumerate(events):
        tags = {"id": event["id"], "tags": event["tags"]}
        if "text" in event:
            continue  # whose tokens are cut elsewhere than those of the tags
        at = place + dice.expovariate(0.02)
        placed.append((at, 1, tags))
        if place % 20 == 7:
            placed.append((at - 0.1, 1, {"id": event["id"], "tags": [*event["tags"], "X"]}))
            placed.append((at + 0.1, 1, tags))
    lines = [line for _, _, line in sorted(placed, key=lambda one: one[:2])]
    return {
        "both": write_lines(folder / "both.jsonl", lines),
        "sentences": write_lines(folder / "sentences.jsonl", [line for line in lines if "tags" not in line]),
        "tags": write_lines(folder / "tags.jsonl", [line for line in lines if "tags" in line]),
        "plain": write_lines(folder / "plain.jsonl", [event for event in events if "tokens" in event]),
    }


def arguments(folder: Path, source: object, *more: object) -> tuple[object, ...]:
    folder.mkdir(exist_ok=True)
    out = ("--predictions", folder / "out.jsonl", "--report", folder / "report.json", "--checkpoint", folder / "state")
    return "run", source, *TAGGING, *out, *more


@pytest.fixture(scope="module")
def whole(streams: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an uninterrupted run over `both`."""
    folder = tmp_path_factory.mktemp("whole")
    command_line(*arguments(folder, streams["both"], "--late-labels"))
    return folder


def test_a_sentence_gets_one_line_and_learns_its_tags(streams: dict[str, Path], whole: Path, tmp_path: Path) -> None:
    """The report counts the tags of that line; learning later costs little accuracy."""
    report, lines = measured(whole / "report.json"), json_lines(whole / "out.jsonl")
    assert [line["id"] for line in lines] == [line["id"] for line in json_lines(streams["sentences"])]
    assert not any("tags" in line for line in lines)
    texts = [line for line in lines if "start" in line]
    late = report["delayed_labels"]
    assert (late["waiting"], late["joined"]) == (len(texts), EVENTS - len(texts))
    assert late["wrong_length"] == late["repeated"] + late["contradicted"] > 20
    assert (report["events"], report["labelled"]) == (EVENTS, late["joined"])
    assert 20 < late["delay_events"]["median"] < 60 < late["delay_events"]["p95"] < 300
    tags = {event["id"]: event["tags"] for event in json_lines(streams["plain"])}
    for name, row in report["learners"].items():
        pairs = [
            (guess, tag)
            for line in lines
            if line["id"] in tags
            for guess, tag in zip(line["learners"][name], tags[line["id"]], strict=True)
            if tag is not None
        ]
        assert row["correct"] == sum(guess == tag for guess, tag in pairs)
        assert row["accuracy"] == pytest.approx(row["correct"] / len(pairs))
    command_line(*arguments(tmp_path, streams["plain"]))
    best = measured(tmp_path / "report.json")["learners"]["crf"]["accuracy"]
    assert best - 0.06 < report["learners"]["crf"]["accuracy"] < best


@pytest.mark.parametrize(("size", "threads", "store"), [(1, 1, "memory"), (7, 2, "disk"), (500, 1, "disk")])
def test_batches_threads_and_stores_change_no_byte(
    streams: dict[str, Path], whole: Path, tmp_path: Path, size: int, threads: int, store: str
) -> None:
    cut = (f"pipeline.batch_size={size}", f"pipeline.threads={threads}", f"delayed_labels.store={store}")
    settings = [word for setting in cut for word in ("--set", setting)]
    command_line(*arguments(tmp_path, streams["both"], "--late-labels", *settings))
    assert content(tmp_path / "out.jsonl") == content(whole / "out.jsonl")
    assert measured(tmp_path / "report.json") == measured(whole / "report.json")
    if store == "memory":
        assert_same_state(tmp_path / "state", whole / "state")


@STORES
def test_a_killed_run_with_waiting_sentences_resumes_exactly(
    streams: dict[str, Path], whole: Path, tmp_path: Path, store: str
) -> None:
    """No waiting sentence is lost, and none is learned twice."""
    often = (
        *("--late-labels", "--set", f"delayed_labels.store={store}"),
        *("--set", "pipeline.batch_size=16", "--set", "checkpoint.every_events=40"),
    )
    out = tmp_path / "out.jsonl"
    for _ in range(3):
        process = start(*arguments(tmp_path, f"{streams['both']}?rate=1500", *often))
        before = len(content(out)) if out.exists() else 0
        until(lambda before=before: out.exists() and len(content(out)) > before + 20_000, process)
        process.kill()
        process.communicate(timeout=PATIENCE)
    command_line(*arguments(tmp_path, streams["both"], *often, "--set", "pipeline.threads=1"))
    assert content(out) == content(whole / "out.jsonl")
    assert measured(tmp_path / "report.json") == measured(whole / "report.json")
    if store == "memory":
        assert_same_state(tmp_path / "state", whole / "state")


def test_a_replay_with_held_back_tags_resumes_exactly(streams: dict[str, Path], tmp_path: Path) -> None:
    """Whatever the batches; the last sentences' tags never come."""
    one, other = tmp_path / "one", tmp_path / "other"
    command_line(*arguments(one, streams["plain"], "--label-delay", 50))
    for limit in (1, 333, 5000):
        small = ("--label-delay", 50, "--limit", limit, "--set", "pipeline.batch_size=7")
        command_line(*arguments(other, streams["plain"], *small))
    assert content(one / "out.jsonl") == content(other / "out.jsonl")
    assert measured(one / "report.json") == measured(other / "report.json")
    assert_same_state(one / "state", other / "state")
    report, events = measured(one / "report.json"), json_lines(streams["plain"])
    assert [line["tags"] for line in json_lines(one / "out.jsonl")] == [event["tags"] for event in events]
    assert report["delayed_labels"] == {"delay": 50, "waiting": 50, "joined": len(events) - 50}
    assert report["unlabelled"] == 50


def test_tags_from_a_second_source_find_sentences_in_columns(streams: dict[str, Path], tmp_path: Path) -> None:
    """Sentences are CoNLL-U without tags and have their ids in comments; tags are JSON lines."""
    blocks = []
    for event in json_lines(streams["plain"]):
        rows = (f"{i}\t{token}" + "\t_" * 8 for i, token in enumerate(event["tokens"], 1))
        blocks.append("\n".join([f"# sent_id = {event['id']}", *rows]))
    columns = tmp_path / "sentences.conllu"
    columns.write_text("\n\n".join(blocks) + "\n")
    for name in ("first", "second"):
        command_line(*arguments(tmp_path / name, columns, "--feedback", streams["tags"]))
    assert content(tmp_path / "first" / "out.jsonl") == content(tmp_path / "second" / "out.jsonl")
    report = measured(tmp_path / "first" / "report.json")
    late = report["delayed_labels"]
    assert late["joined"] + late["early"] == report["labelled"] == len(blocks)
    assert late["waiting"] == 0
    assert "format conll has no tags without tokens" in refused("run", columns, *TAGGING, "--late-labels")


def test_log_lines_may_get_their_tags_later(tmp_path: Path) -> None:
    """By the id that a pattern finds in them."""
    (tmp_path / "app.log").write_text("[1] connected to 10.0.0.1\n[2] connected to 10.0.0.2\n")
    tags = write_lines(tmp_path / "tags.jsonl", [{"id": "1", "tags": ["C", "C", "V"]}])
    source = f"{tmp_path / 'app.log'}?format=regex&pattern=%5C%5B(%3FP%3Cid%3E%5Cd%2B)%5C%5D%20(%3FP%3Ctext%3E.*)"
    more = ("--preset", "log-template", "--feedback", tags, "--report", tmp_path / "report.json")
    command_line("run", source, *more)
    assert (late_of(tmp_path)["joined"], late_of(tmp_path)["waiting"]) == (1, 1)


def test_tags_appended_to_a_followed_file_are_learned(streams: dict[str, Path], tmp_path: Path) -> None:
    """Those of the wrong length are a line with their place."""
    tags = tmp_path / "tags.jsonl"
    tags.write_bytes(b"")
    often = ("--follow", "--set", "checkpoint.every_events=50")
    process = start(*arguments(tmp_path, streams["sentences"], "--feedback", tags, *often))
    out = tmp_path / "out.jsonl"
    until(lambda: out.exists() and content(out).count(b"\n") == EVENTS, process)
    with tags.open("ab") as file:
        file.write(content(streams["tags"]))

    def waiting() -> int:
        (whole,) = command_line("inspect", tmp_path / "state", "--json").lines
        return int(whole["events"] - whole["labelled"])

    texts = sum("text" in line for line in json_lines(streams["sentences"]))
    until(lambda: waiting() == texts, process)
    process.send_signal(signal.SIGTERM)
    done = finish(process)
    assert done.code == 0
    assert f"left out at {tags}:" in done.err
    assert "further ones are counted as wrong_length" in done.err
    assert f"late tags of another length than their sentence: {late_of(tmp_path)['wrong_length']} times" in done.out


def late_of(folder: Path) -> dict[str, Any]:
    late: dict[str, Any] = measured(folder / "report.json")["delayed_labels"]
    return late


def test_predict_and_produce_take_records_that_are_only_tags(
    streams: dict[str, Path], whole: Path, tmp_path: Path
) -> None:
    done = command_line("predict", whole / "state", streams["both"], "--predictions", "-")
    assert [line["id"] for line in done.lines] == [line["id"] for line in json_lines(streams["sentences"])]
    assert all(None not in line["predicted"] for line in done.lines)
    out = tmp_path / "out.jsonl"
    command_line("produce", streams["tags"], out, "--set", "task=tagging", "--set", "delayed_labels.enabled=true")
    assert content(out) == content(streams["tags"])


def test_records_that_are_neither_sentence_nor_tags_are_dead_letters(tmp_path: Path) -> None:
    lines = [{"id": "1", "tokens": ["a"]}, {"id": "1", "tags": [None]}, {"id": "1"}, {"tags": ["X"]}]
    dead = tmp_path / "dead.jsonl"
    write_lines(tmp_path / "in.jsonl", lines)
    command_line(*arguments(tmp_path, tmp_path / "in.jsonl", "--late-labels", "--dead-letters", dead))
    assert [json.loads(letter["text"]) for letter in json_lines(dead)] == lines[1:]
    assert {letter["error"] for letter in json_lines(dead)} == {
        "expected tokens or a text, or tags with an id; found neither"
    }
    assert (late_of(tmp_path)["waiting"], late_of(tmp_path)["joined"]) == (1, 0)


@pytest.mark.parametrize("size", [1, 64])
def test_a_limit_of_tags_ends_a_run_where_late_ones_are_learned(tmp_path: Path, size: int) -> None:
    """Whatever the batches; it goes on from there with a higher limit."""
    lines: list[dict[str, Any]] = [{"id": str(i), "tokens": ["a", "b"]} for i in range(10)]
    lines += [{"id": str(i), "tags": [f"T{i}", "X"]} for i in range(10)]
    path = write_lines(tmp_path / "in.jsonl", lines)
    run = (*arguments(tmp_path, path, "--late-labels"), "--set", f"pipeline.batch_size={size}", "--set")
    error = refused(*run, "pipeline.max_labels=4")
    offset = path.read_bytes().index(b'{"id": "3", "tags"')
    assert error.startswith(f"pipeline.max_labels: found more than 4 tags, 'T3' at {path}:{offset} is one too many")
    assert list(command_line("inspect", tmp_path / "state", "--json").lines[0]["labels"]) == ["T0", "X", "T1", "T2"]
    command_line(*run, "pipeline.max_labels=40")
    assert late_of(tmp_path)["joined"] == 10


def test_a_limit_of_tags_holds_for_tags_that_are_held_back(tmp_path: Path) -> None:
    """The sentence whose tags are due is another one than that at which the run ends."""
    lines = [{"id": str(i), "tokens": ["a", "b"], "tags": [f"T{i}", "X"]} for i in range(10)]
    path = write_lines(tmp_path / "in.jsonl", lines)
    run = (*arguments(tmp_path, path, "--label-delay", 4), "--set")
    error = refused(*run, "pipeline.max_labels=4")
    offset = path.read_bytes().index(b'{"id": "7"')
    assert error.startswith(f"pipeline.max_labels: found more than 4 tags, 'T3' at {path}:{offset} is one too many")
    command_line(*run, "pipeline.max_labels=40")
    assert late_of(tmp_path)["joined"] == 6
