"""Runs that start with words set by hand: the table `[priors]`."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from streamlin import Pipeline
from tests.command_line import command_line, refused
from tests.integration.pages import snapshots, started
from tests.integration.processes import PATIENCE, finish, kill, start, until
from tests.integration.streams import (
    assert_same_state,
    events_kept,
    json_lines,
    measured,
    real_events,
    roughened,
    write_lines,
)

QUESTIONS = """
[priors]
strength = 5
LOC = { where = 1, "what country" = 1.5 }
NUM = { "how many" = 2, when = 1 }
HUM = { who = 1 }
"never there" = { abracadabra = 1 }

[features]
bits = 16
names = 500
[features.characters]
tokens = "char_wb"
ngrams = [2, 4]
values = "log"
[features.frequent]
min_count = 3

[evaluation]
window = 50
slice_by = ["split"]
references = ["said"]
"""
LEARNERS = [
    ("naive_bayes", ""),
    ("naive_bayes", 'name = "by_prior"\nsmoothing = "prior"\nfeatures = "frequent"'),
    ("naive_bayes", 'name = "soft"\nsmoothing = "prior"\nalpha = 3.0\nunlabelled = [0.3, 1.0]'),
    *((kind, "") for kind in ("perceptron", "averaged_perceptron", "passive_aggressive", "logistic_regression")),
    *((kind, "") for kind in ("hinge", "sgd")),
    ("arow", 'features = "characters"'),
    ("mixture", ""),
]
UNVERIFIED = "unverified: no label has been learned yet, so these predictions rest on the words of [priors]"


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """A configuration of all learners over three views."""
    tables = "".join(f'[[learners]]\nkind = "{kind}"\n{keys}\n' for kind, keys in LEARNERS)
    (tmp_path / "questions.toml").write_text(QUESTIONS + tables)
    return tmp_path / "questions.toml"


@pytest.fixture
def stream(data: Path, tmp_path: Path) -> Path:
    """800 questions, some without label, and another system's guesses of a label that is known from the start."""
    events = [event | {"said": "HUM"} for event in real_events(data / "trec-6.jsonl.gz", 800)]
    return write_lines(tmp_path / "trec.jsonl", roughened(events))


def arguments(folder: Path, stream: object, config: Path, size: int, *more: object) -> tuple[object, ...]:
    folder.mkdir(exist_ok=True)
    outputs = ("--predictions", folder / "out.jsonl", "--report", folder / "report.json", "--checkpoint", folder / "s")
    return "run", stream, "--config", config, *outputs, "--set", f"pipeline.batch_size={size}", *more


def test_batches_threads_and_resumes_change_nothing(stream: Path, questions: Path, tmp_path: Path) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "parts"
    command_line(*arguments(whole, stream, questions, 4000))
    for size, threads in ((1, 1), (7, 2)):
        other = tmp_path / f"in {size}"
        command_line(*arguments(other, stream, questions, size, "--set", f"pipeline.threads={threads}"))
        assert (other / "out.jsonl").read_bytes() == (whole / "out.jsonl").read_bytes()
        assert measured(other / "report.json") == measured(whole / "report.json")
        assert_same_state(other / "s", whole / "s")
    for limit in (0, 1, 97, 100_000):
        command_line(*arguments(folder, stream, questions, 64, "--limit", max(limit, 1)))
    assert (folder / "out.jsonl").read_bytes() == (whole / "out.jsonl").read_bytes()
    assert measured(folder / "report.json") == measured(whole / "report.json")
    assert_same_state(folder / "s", whole / "s")
    assert measured(whole / "report.json")["labels"][:4] == ["LOC", "NUM", "HUM", "never there"]


def test_a_killed_run_resumes_exactly(stream: Path, questions: Path, tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    often = ("--set", "checkpoint.every_events=50")
    command_line(*arguments(whole, stream, questions, 20, *often))
    process = start(*arguments(killed, f"{stream}?rate=300", questions, 20, *often))
    until(lambda: events_kept(killed / "s") > 200, process)
    kill(process)
    command_line(*arguments(killed, stream, questions, 20, *often))
    assert (killed / "out.jsonl").read_bytes() == (whole / "out.jsonl").read_bytes()
    assert_same_state(killed / "s", whole / "s")


def test_labels_held_back_change_no_first_prediction(stream: Path, questions: Path, tmp_path: Path) -> None:
    """All first predictions rest on the words, in batches of any size."""
    for size in (1, 300):
        folder = tmp_path / f"in {size}"
        command_line(*arguments(folder, stream, questions, size, "--label-delay", 100))
    one, many = tmp_path / "in 1", tmp_path / "in 300"
    assert (one / "out.jsonl").read_bytes() == (many / "out.jsonl").read_bytes()
    assert measured(one / "report.json") == measured(many / "report.json")
    first = json_lines(one / "out.jsonl")[:50]
    assert None not in {line["predicted"] for line in first}
    assert len({line["predicted"] for line in first}) > 2


def test_priors_of_other_checkpoints_are_refused(questions: Path, tmp_path: Path) -> None:
    stream = write_lines(tmp_path / "in.jsonl", [{"text": "where", "label": "LOC"}])
    command_line("run", stream, "--config", questions, "--checkpoint", tmp_path / "s", "--set", "priors.LOC.where=1")
    for change, expected in {
        "priors.LOC.where=2": "priors.LOC.where: 1.0 in the checkpoint, 2 now",
        "priors.strength=6": "priors.strength: 5.0 in the checkpoint, 6.0 now",
        "priors.new={}": "priors.new: null in the checkpoint, {} now",
    }.items():
        line = refused(*("run", stream, "--config", questions, "--checkpoint", tmp_path / "s", "--set", change), code=4)
        assert expected.replace("2 now", "2.0 now") in line
    plain = tmp_path / "plain"
    command_line("run", stream, "--checkpoint", plain)
    line = refused("run", stream, "--checkpoint", plain, "--set", "priors.LOC.where=1", code=4)
    assert 'priors: null in the checkpoint, {"strength": 10.0, "LOC": {"where": 1.0}} now' in line


BAD = {
    "priors.a=3": "priors.a: expected a table, got 3",
    "priors.a={x = inf}": "priors.a.x: input should be a finite number, got inf",
    "priors.a={x = nan}": "priors.a.x: input should be a finite number, got nan",
    "priors.a={x = 0}": "priors.a.x: input should be greater than 0, got 0",
    "priors.a={x = 'much'}": "priors.a.x: input should be a valid number, got 'much'",
    "priors={a = {'?!' = 1}}": "priors.a: '?!' has no token in view words (tokens = 'words')",
    "priors={a = {'one two three' = 1}}": "priors.a: 'one two three' has 3 tokens in view words, whose n-grams have 1 "
    "to 2; name a shorter part of it, or set features.words.ngrams",
    "priors={a = {'' = 1}}": "priors: expected a word of 'a' to be a text, got ''",
    "priors={'' = {x = 1}}": "priors: expected a label to be a text, got ''",
    "priors.strength=0": "priors.strength: input should be greater than 0, got 0",
}


@pytest.mark.parametrize(("given", "expected"), BAD.items(), ids=BAD)
def test_bad_priors_end_with_one_line(given: str, expected: str, tmp_path: Path) -> None:
    stream = write_lines(tmp_path / "in.jsonl", [{"text": "x", "label": "a"}])
    out = tmp_path / "out.jsonl"
    assert refused("run", stream, "--set", given, "--predictions", out) == expected
    assert not out.exists()


def test_limits_of_labels_and_tables_hold(tmp_path: Path) -> None:
    stream = write_lines(tmp_path / "in.jsonl", [{"text": "x", "label": "a"}, {"text": "y", "label": "c"}])
    two = ("--set", "priors={a = {x = 1}, b = {y = 1}}")
    line = refused("run", stream, *two, "--set", "pipeline.max_labels=1")
    assert line == ("pipeline.max_labels: [priors] names 2 labels, expected at most 1; raise the limit, or name fewer")
    assert "found more than 2 labels, 'c' at" in refused("run", stream, *two, "--set", "pipeline.max_labels=2")
    line = refused("run", stream, *two, "--set", "pipeline.max_table_bytes=100")
    assert "for the words of [priors] the learners' tables need more than 100 bytes, for 2 labels and 2 feat" in line
    long = f"priors={{'{'l' * 200}' = {{}}}}"
    line = refused("run", stream, "--set", long, "--set", "pipeline.max_label_characters=128")
    assert line.endswith("has 200 characters, expected at most 128 (pipeline.max_label_characters)")
    assert "priors: not for task = 'tagging'" in refused("run", stream, "--task", "tagging", *two)


def test_without_labels_all_outputs_say_unverified(browser: Browser, questions: Path, tmp_path: Path) -> None:
    texts = ["Where is it", "How many are there", "Who was he", "When was that", "nothing known"]
    stream = write_lines(tmp_path / "in.jsonl", [{"id": str(i), "text": text} for i, text in enumerate(texts)])
    page = tmp_path / "report.html"
    process, url = started(*arguments(tmp_path / "run", stream, questions, 2), "--set", "evaluation.references=[]")
    told = list(snapshots(url))
    done = finish(process)
    assert done.code == 0
    assert UNVERIFIED in done.out
    assert told[-1]["unverified"] is True
    report = measured(tmp_path / "run" / "report.json")
    assert report["unverified"] is True
    assert [line["predicted"] for line in json_lines(tmp_path / "run" / "out.jsonl")][:4] == [
        "LOC",
        "NUM",
        "HUM",
        "NUM",
    ]
    done = command_line("predict", tmp_path / "run" / "s", stream)
    assert done.err == f"streamlin: {UNVERIFIED}\n"
    assert done.lines[0]["predicted"] == "LOC"
    assert UNVERIFIED in command_line("run", stream, "--config", questions, "--report", page).out
    assert shown(browser, page)
    one = write_lines(tmp_path / "one.jsonl", [{"text": "Where is it", "label": "LOC"}])
    done = command_line("run", one, "--config", questions, "--report", page)
    assert "unverified" not in done.out
    assert not shown(browser, page)
    none = write_lines(tmp_path / "none.jsonl", [{"text": "Where is it", "label": "LOC", "weight": 0}])
    assert UNVERIFIED in command_line("run", none, "--config", questions).out


def shown(browser: Browser, page: Path) -> bool:
    """Whether the report's page says that predictions are unverified."""
    with browser.new_page() as tab:
        tab.set_default_timeout(1000 * PATIENCE)
        tab.goto(page.as_uri())
        tab.wait_for_selector("#counts dd")
        return tab.get_by_text("Unverified: no label has been learned yet").is_visible()


def test_inspect_and_explain_name_the_words(questions: Path, tmp_path: Path) -> None:
    stream = write_lines(tmp_path / "in.jsonl", [{"text": "nothing known"}])
    command_line("run", stream, "--config", questions, "--checkpoint", tmp_path / "s")
    found = json.loads(command_line("inspect", tmp_path / "s", "--json").out)
    assert found["labels"] == dict.fromkeys(("LOC", "NUM", "HUM", "never there"), 0.0)
    assert found["rows"] == {
        "words": 6,
        "characters": found["rows"]["characters"],
        "frequent": 6,
        "words+unlabelled": 9,
    }
    (bucket, _), (second, _) = found["heaviest"]["perceptron"]["LOC"][:2]
    assert [found["names"]["words"][str(one)] for one in (bucket, second)] == [["what country"], ["where"]]
    told = command_line("explain", tmp_path / "s", "In what country").out
    assert "what country" in told


def test_a_pipeline_takes_labels_and_words_with_dots() -> None:
    pipeline = Pipeline(
        priors={"v1.0": {"e.g": 1}, "strength": {"force": 1}}, learners=["naive_bayes"], features={"names": 10}
    )
    assert pipeline.labels == ["v1.0", "strength"]
    assert pipeline.predict_many(["e g", "the force", "none"]) == ["v1.0", "strength", "v1.0"]
    assert pipeline.metrics["unverified"] is True
    pipeline.learn_one("a text", "other")
    assert "unverified" not in pipeline.metrics
    assert pipeline.labels == ["v1.0", "strength", "other"]


def test_a_pipeline_saves_and_loads_its_words(tmp_path: Path) -> None:
    pipeline = Pipeline(priors={"a": {"x": 1}, "b": {"y": 1}}, learners=["logistic_regression"])
    pipeline.save(tmp_path)
    loaded = Pipeline.load(tmp_path)
    assert loaded.predict_many(["y", "x"]) == ["b", "a"]
    assert loaded.config.priors == pipeline.config.priors
    assert loaded.predict_proba_one("y") == pipeline.predict_proba_one("y")


def test_words_can_be_known_from_the_third_time_on() -> None:
    """A word set by hand has its row whatever `min_count` is, other words wait for it."""
    pipeline = Pipeline(
        priors={"a": {"x": 1}, "b": {}}, learners=["perceptron"], features={"words": {"min_count": 3, "ngrams": [1, 1]}}
    )
    pipeline.learn_many(["x y", "x y"], ["b", "b"])
    assert pipeline.predict_many(["y", "x"]) == ["b", "a"]
    assert len(pipeline._state.model.rows["words"]) == 1
    pipeline.learn_one("x y", "b")
    assert len(pipeline._state.model.rows["words"]) == 2


def test_models_of_others_learn_without_the_words(tmp_path: Path) -> None:
    config: dict[str, Any] = {"kind": "sklearn", "object": "sklearn.linear_model:Perceptron"}
    pipeline = Pipeline(priors={"a": {"x": 1}, "b": {}}, learners=["perceptron", config])
    assert pipeline._state.model.pop_notices() == [
        "sklearn can't start with the words of [priors], and learns without them"
    ]
    for prediction in pipeline.run([("x", "a"), ("y", "b"), ("x", "a")] * 5):
        assert prediction.predicted in ("a", "b")
    assert pipeline.metrics["learners"]["sklearn"]["accuracy"] > 0.5
