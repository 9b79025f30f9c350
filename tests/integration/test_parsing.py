"""Parsers through the command line and in Python: what is written, what a kill leaves, and what is refused."""

import gzip
import json
import random
import signal
import time
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from streamlin import Pipeline
from streamlin.errors import ConfigError, RecordError
from streamlin.formats.trees import read_tree, write_tree
from tests.command_line import command_line, refused
from tests.integration.pages import started
from tests.integration.processes import finish, kill, start, until
from tests.integration.streams import assert_same_state, content, json_lines, measured, write_lines
from tests.integration.test_metrics import scraped

PARSING = ("--task", "parsing")
SMALL = ("--set", "pipeline.batch_size=5", "--set", "checkpoint.every_events=9")
DOG = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))"
CAT = "(S (NP (DT a) (NN cat)) (VP (VBZ sees) (NP (DT the) (NN dog))))"


class Reference(NamedTuple):
    """A stream of trees, and what an uninterrupted run over it has written."""

    stream: Path
    events: list[dict[str, Any]]
    predictions: Path
    report: Path
    checkpoint: Path


@pytest.fixture(scope="session")
def reference(data: Path, folder: Path) -> Reference:
    """80 real trees; some are hidden, some are texts, some have no id, a weight; and dead letters."""
    with gzip.open(data / "trees-ptb-sample.jsonl.gz", "rt", encoding="utf-8", newline="\n") as lines:
        events = [json.loads(line) for line in islice(lines, 80)]
    for number, event in enumerate(events):
        if number % 13 == 5:
            event["tokens"] = read_tree(event.pop("tree")).words
        if number % 19 == 4:
            event["weight"] = number % 3 / 2
        if number % 31 == 7:
            del event["id"]
        if number % 23 == 9:
            event["text"] = "It does n't work ( yet ) ."
            del event["tree"]
    bad: list[Any] = [b'{"tree": "(S"}', b'{"tree": "(A a) (B b)"}', b'{"tree": "(S (-NONE- *))"}', b"{}"]
    lines_ = [
        line for number, event in enumerate(events) for line in ([event], [event, bad[number % 4]])[number % 9 == 1]
    ]
    stream = write_lines(folder / "trees.jsonl", lines_)
    names = ("parsed.jsonl", "parsed.report.json", "parsed.state")
    predictions, report, checkpoint = (folder / name for name in names)
    command_line(
        *("run", stream, *PARSING, "--predictions", predictions, "--dead-letters", folder / "parsed.dead.jsonl"),
        *("--report", report, "--checkpoint", checkpoint, "--report", folder / "parsed.html"),
    )
    dead = [line["error"] for line in json_lines(folder / "parsed.dead.jsonl")]
    assert dead[:3] == [
        "'(' at character 7 is outside of the tree, expected one tree a line",
        "the tree has no words",
        "tree, tokens and text are missing, expected one of them",
    ]
    assert len(dead) == 9
    return Reference(stream, events, predictions, report, checkpoint)


def test_a_run_writes_a_line_for_each_sentence(reference: Reference) -> None:
    lines = json_lines(reference.predictions)
    assert len(lines) == len(reference.events) == 80
    for line, event in zip(lines[1:], reference.events[1:], strict=True):
        assert line.get("id") == event.get("id")
        assert line["learners"] == {"pcfg": line["predicted"]}
        true = read_tree(event["tree"]) if "tree" in event else None
        assert line.get("tree") == (true and write_tree(true))
        if line["predicted"] is None:
            assert true is None or len(true.words) > 40
            continue
        words = read_tree(line["predicted"]).words
        assert words == (true.words if true else event.get("tokens", words))
        assert (line["log_probability"] is None) == (line["confidence"] is None) == (not line["covered"])
        if "text" in event:
            assert [event["text"][a:b] for a, b in zip(line["start"], line["end"], strict=True)] == words
    assert sum(line["covered"] for line in lines) > 30


@pytest.mark.parametrize(("size", "threads"), [(1, 1), (7, 2), (7, 4)])
def test_batches_and_threads_change_no_byte(reference: Reference, tmp_path: Path, size: int, threads: int) -> None:
    predictions, report, state = (tmp_path / name for name in ("parsed.jsonl", "report.json", "state"))
    command_line(
        *("run", reference.stream, *PARSING, "--predictions", predictions, "--report", report, "--checkpoint", state),
        *("--set", f"pipeline.batch_size={size}", "--set", f"pipeline.threads={threads}"),
    )
    assert content(predictions) == content(reference.predictions)
    assert measured(report) == measured(reference.report)
    assert_same_state(state, reference.checkpoint)


def test_a_run_killed_anywhere_resumes_exactly(reference: Reference, tmp_path: Path) -> None:
    """Twice, at random places of its output."""
    predictions, report, state = (tmp_path / name for name in ("parsed.jsonl", "report.json", "state"))
    arguments = (*PARSING, *SMALL, "--predictions", predictions, "--report", report, "--checkpoint", state)
    chance = random.Random(1)
    for _ in range(2):
        process = start("run", f"{reference.stream}?rate=200", *arguments)
        size = written(predictions) + chance.randrange(1, reference.predictions.stat().st_size // 3)
        while written(predictions) < size and process.poll() is None:
            time.sleep(chance.random() / 100)
        kill(process)
        assert process.returncode == -signal.SIGKILL
    command_line("run", reference.stream, *arguments)
    assert content(predictions) == content(reference.predictions)
    assert measured(report) == measured(reference.report)


def written(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def test_predict_and_inspect_use_what_a_run_has_learned(reference: Reference) -> None:
    stdin = b'{"tokens": ["The", "dog", "barks", "."]}\n{"text": "The dog barks."}\n'
    first, second = command_line("predict", reference.checkpoint, stdin=stdin).lines
    assert read_tree(first["predicted"]).words == ["The", "dog", "barks", "."]
    assert first["predicted"] == second["predicted"]
    (whole,) = command_line("inspect", reference.checkpoint, "--json").lines
    assert whole["events"] == 80
    assert "NNP" in whole["labels"]
    assert "max_tokens=40" in command_line("inspect", reference.checkpoint).out


def test_lines_of_trees_and_json_give_the_same_predictions(tmp_path: Path) -> None:
    """By the suffix, too."""
    trees = [DOG, CAT, CAT, DOG]
    paths = [write_lines(tmp_path / "t.jsonl", [{"tree": tree} for tree in trees]), tmp_path / "t.bracketed"]
    paths[1].write_text("\n".join(trees))
    outs = [path.with_suffix(f"{path.suffix}.out") for path in paths]
    for path, out in zip(paths, outs, strict=True):
        command_line("run", path, *PARSING, "--predictions", out)
    first, second = ([line["predicted"] for line in json_lines(out)] for out in outs)
    assert first == second
    assert first[3] == DOG


def test_table_report_and_metrics_show_brackets(reference: Reference, tmp_path: Path) -> None:
    """F1, exact trees, coverage and tags, as the report has them; followed to where the file ends, and scraped."""
    process, url = started("run", reference.stream, *PARSING, "--follow", *SMALL, option="--metrics")
    until(lambda: scraped(url).get(("streamlin_events_total",)) == 80, process)
    told = scraped(url)
    process.terminate()
    shown = finish(process)
    assert shown.code == 0
    assert all(title in shown.out for title in ("F1", "sentences", "covered", "accuracy"))
    assert (
        f"{measured(reference.report)['too_long']} sentences were too long (max_tokens): learned, not parsed"
        in shown.out
    )
    row = measured(reference.report)["learners"]["pcfg"]
    assert told[("streamlin_learner_span_f1_ratio", "pcfg", "running")] == row["f1"]
    assert told[("streamlin_learner_covered_ratio", "pcfg", "window")] == row["window_covered"]
    assert told[("streamlin_learner_sentences_right_ratio", "pcfg", "fading")] == row["fading_sentences_right"]
    assert told[("streamlin_too_long_total",)] == measured(reference.report)["too_long"] > 0
    page = (reference.report.parent / "parsed.html").read_text()
    assert "Share of sentences of which the grammar has a tree." in page


def test_a_pipeline_learns_and_predicts_trees() -> None:
    """From tokens, texts or trees alone; pairs are tuples, and lists are tokens."""
    pipeline = Pipeline(task="parsing", learners=[{"kind": "pcfg", "alpha": 0.1}])
    assert pipeline.predict_one(["the", "dog"]) is None
    for _ in range(3):
        pipeline.learn_one(["the", "dog", "barks"], DOG)
        pipeline.learn_one("a cat sees the dog", CAT)
    assert pipeline.predict_one("the cat barks") == "(S (NP (DT the) (NN cat)) (VP (VBZ barks)))"
    found = list(pipeline.run([(["the", "dog", "barks"], DOG), {"tree": CAT}, ["a", "dog"], "the cat"]))
    assert [prediction.predicted for prediction in found[:2]] == [DOG, CAT]
    assert [prediction.label for prediction in found] == [DOG, CAT, None, None]
    assert found[0].learners == {"pcfg": DOG}
    with pytest.raises(RecordError, match="the tree has 3 words for 2 tokens"):
        pipeline.learn_one(["the", "dog"], DOG)
    with pytest.raises(ConfigError, match="predict_proba_one: not for task = 'parsing'"):
        pipeline.predict_proba_one("the dog")
    with pytest.raises(ConfigError, match="explain: not for task = 'parsing'"):
        pipeline.explain("the dog")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("t.csv", *PARSING), "format csv has no trees; task = 'parsing' needs json or bracketed"),
        (("t.bracketed",), "format bracketed holds trees, not texts with labels; set task = 'parsing'"),
        (
            ("t.jsonl", *PARSING, "--learner", "hmm"),
            "learners.hmm: not a learner of task = 'parsing'; choose from pcfg",
        ),
        (("t.jsonl", "--learner", "pcfg"), "learners.pcfg: not a learner of task = 'classification'"),
        (("t.jsonl", *PARSING, "--feedback", "x.jsonl"), "delayed_labels: not for task = 'parsing'"),
        (("t.jsonl", *PARSING, "--label-delay", "3"), "delayed_labels: not for task = 'parsing'"),
        (("t.jsonl", *PARSING, "--set", "fields.columns=pos"), "fields.columns: not for task = 'parsing'"),
        (("t.jsonl", *PARSING, "--set", "pipeline.token_confidence=true"), "pipeline.token_confidence: not for task"),
        (("t.jsonl", *PARSING, "--set", "learners.pcfg.max_tokens=0"), "learners.pcfg.max_tokens"),
        (
            ("t.jsonl", *PARSING, "--set", "pipeline.max_labels=2"),
            "pipeline.max_labels: found more than 2 tags, 'VBZ' at",
        ),
        (
            ("t.jsonl", *PARSING, "--set", "pipeline.max_table_bytes=9000"),
            "the parsers' tables need more than 9,000 bytes",
        ),
    ],
)
def test_what_does_not_fit_the_task_is_refused(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    write_lines(tmp_path / "t.jsonl", [{"tree": DOG}])
    (tmp_path / "t.csv").write_text("text,label\na,x\n")
    (tmp_path / "t.bracketed").write_text(DOG)
    assert says in refused("run", *arguments, cwd=tmp_path)


def test_a_parser_is_not_served_or_explained(reference: Reference) -> None:
    assert (
        refused("serve", reference.checkpoint, "127.0.0.1:0")
        == "serve: not for task = 'parsing'; only texts and tokens are served"
    )
    assert "explain: not for task = 'parsing'" in refused("explain", reference.checkpoint, "a b")


def test_limits_end_a_run_at_the_same_event_whatever_the_batches(reference: Reference, tmp_path: Path) -> None:
    """Everything before it is learned."""
    ends = []
    for size in (1, 50):
        state = tmp_path / f"state{size}"
        done = command_line(
            *("run", reference.stream, *PARSING, "--checkpoint", state, "--set", f"pipeline.batch_size={size}"),
            *("--set", "pipeline.max_table_bytes=300000"),
            code=2,
        )
        assert "pipeline.max_table_bytes: at " in done.err
        ends.append((done.err.splitlines()[-1], command_line("inspect", state, "--json").lines[0]["events"]))
    assert ends[0] == ends[1]
    assert 5 < ends[0][1] < 80
