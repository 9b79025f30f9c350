"""Runs that cluster texts: `--task topics`."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from streamlin import Pipeline
from streamlin.checkpoint.file import CURRENT
from tests.command_line import command_line, refused
from tests.integration.pages import asked, followed, started
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
from tests.naive_topics import NaiveLeader, NaiveSoftKMeans, agreement

ALL = ("--learner", "leader", "--learner", "k_means", "--learner", "soft_k_means")
CONFIG = """
task = "topics"
[features]
bits = 14
[[learners]]
kind = "leader"
clusters = 12
[[learners]]
kind = "k_means"
clusters = 8
[[learners]]
kind = "soft_k_means"
clusters = 8
features = "pairs"
[features.pairs]
ngrams = [1, 2]
values = "counts"
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "topics.toml").write_text(CONFIG)
    return tmp_path / "topics.toml"


@pytest.fixture
def stream(data: Path, tmp_path: Path) -> Path:
    """1,000 requests, some without label, with weights, empty texts and invalid records."""
    return write_lines(tmp_path / "in.jsonl", roughened(real_events(data / "clinc150.jsonl.gz", 1000)))


def arguments(folder: Path, stream: object, config: Path, size: int, *more: object) -> tuple[object, ...]:
    folder.mkdir(exist_ok=True)
    outputs = ("--predictions", folder / "out.jsonl", "--report", folder / "report.json", "--checkpoint", folder / "s")
    return "run", stream, "--config", config, *outputs, "--set", f"pipeline.batch_size={size}", *more


def test_batches_threads_and_resumes_change_nothing(stream: Path, config: Path, tmp_path: Path) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "parts"
    command_line(*arguments(whole, stream, config, 4000))
    for size, threads in ((1, 1), (7, 2), (7, 4), (500, 2)):
        other = tmp_path / f"in {size}"
        command_line(*arguments(other, stream, config, size, "--set", f"pipeline.threads={threads}"))
        assert (other / "out.jsonl").read_bytes() == (whole / "out.jsonl").read_bytes()
        assert measured(other / "report.json") == measured(whole / "report.json")
        assert_same_state(other / "s", whole / "s")
    for limit in (1, 97, 100_000):
        command_line(*arguments(folder, stream, config, 64, "--limit", limit))
    assert (folder / "out.jsonl").read_bytes() == (whole / "out.jsonl").read_bytes()
    assert measured(folder / "report.json") == measured(whole / "report.json")
    assert_same_state(folder / "s", whole / "s")


def test_a_killed_run_resumes_exactly(stream: Path, config: Path, tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    often = ("--set", "checkpoint.every_events=50")
    command_line(*arguments(whole, stream, config, 20, *often))
    process = start(*arguments(killed, f"{stream}?rate=400", config, 20, *often))
    until(lambda: events_kept(killed / "s") > 200, process)
    kill(process)
    command_line(*arguments(killed, stream, config, 20, *often))
    assert (killed / "out.jsonl").read_bytes() == (whole / "out.jsonl").read_bytes()
    assert_same_state(killed / "s", whole / "s")


def test_labels_change_no_cluster(data: Path, config: Path, tmp_path: Path) -> None:
    """Nor do they have to be there; without them nothing is said of agreement."""
    events = real_events(data / "clinc150.jsonl.gz", 300)
    texts = [{"id": event["id"], "text": event["text"]} for event in events]
    done = [
        command_line(*arguments(tmp_path / name, write_lines(tmp_path / f"{name}.jsonl", own), config, 50))
        for name, own in (("shown", events), ("hidden", texts))
    ]
    one, other = (json_lines(tmp_path / name / "out.jsonl") for name in ("shown", "hidden"))
    for line in one:
        assert line.pop("label")
    assert one == other
    assert "NMI" in done[0].out
    assert "NMI" not in done[1].out
    assert "no event has a label" not in done[1].out
    assert "nmi" not in measured(tmp_path / "hidden" / "report.json")["learners"]["leader"]


def test_lines_are_those_of_the_twins(data: Path, tmp_path: Path) -> None:
    """Clusters, similarity, newness; NMI and purity are those of all lines."""
    events = real_events(data / "clinc150.jsonl.gz", 400)
    stream = write_lines(tmp_path / "in.jsonl", events)
    (tmp_path / "c.toml").write_text(CONFIG)
    command_line(*arguments(tmp_path / "run", stream, tmp_path / "c.toml", 50, "--set", "features.bits=22"))
    lines = json_lines(tmp_path / "run" / "out.jsonl")
    leader, k_means = NaiveLeader(12), NaiveLeader(8, fixed=True)
    for event, line in zip(events, lines, strict=True):
        words = dict.fromkeys(_words(event["text"]), 1.0)
        number, similarity, new = leader.learn(words)
        assert (line["cluster"], line["new"]) == (number, new)
        assert line["similarity"] == pytest.approx(similarity, abs=2e-6)
        assert line["learners"]["leader"] == number
        assert line["learners"]["k_means"] == k_means.learn(words)[0]
    report = measured(tmp_path / "run" / "report.json")
    labels = [event["label"] for event in events]
    for name, row in report["learners"].items():
        nmi, purity = agreement([line["learners"][name] for line in lines], labels)
        assert (row["nmi"], row["purity"]) == (pytest.approx(nmi), pytest.approx(purity))
    assert report["learners"]["leader"]["new"] == leader.made / 400
    largest = report["topics"]["leader"][0]
    slot = max(range(12), key=lambda k: leader.weights[k])
    assert (largest["number"], largest["texts"]) == (leader.numbers[slot], leader.weights[slot])
    assert set(largest["words"]) <= set(leader.clusters[slot])
    assert len(largest["words"]) == 8


def _words(text: str) -> list[str]:
    from streamlin.config import ViewConfig
    from tests.naive_features import ngrams

    return ngrams(text, ViewConfig(ngrams=(1, 1)))


def test_texts_without_words_have_no_cluster(tmp_path: Path) -> None:
    stream = write_lines(tmp_path / "in.jsonl", [{"text": "a b"}, {"text": ""}, {"text": "?!"}, {"text": "a b"}])
    done = command_line("run", stream, "--task", "topics", "--predictions", "-")
    assert [(line["cluster"], line["similarity"], line["new"]) for line in done.lines] == [
        (1, 0.0, True),
        (None, None, False),
        (None, None, False),
        (1, 1.0, False),
    ]


def test_predicting_changes_no_cluster(stream: Path, config: Path, tmp_path: Path) -> None:
    command_line(*arguments(tmp_path / "a", stream, config, 500))
    before = (tmp_path / "a" / "s" / CURRENT).read_bytes()
    texts = write_lines(tmp_path / "new.jsonl", [{"text": "what is my account balance"}, {"text": "zzyzx qwrt"}])
    known, unknown = command_line("predict", tmp_path / "a" / "s", texts).lines
    assert known["cluster"] > 0
    assert known["learners"]["soft_k_means"] > 0
    assert (unknown["cluster"], unknown["similarity"], unknown["new"]) == (None, 0.0, True)
    assert (tmp_path / "a" / "s" / CURRENT).read_bytes() == before
    found = json.loads(command_line("inspect", tmp_path / "a" / "s", "--json").out)
    assert found["learners"]["leader"]["clusters"] == 12
    assert len(found["topics"]["leader"][0]["words"]) == 8
    assert "leader: heaviest words" in command_line("inspect", tmp_path / "a" / "s").out


REFUSED = {
    "delayed_labels.enabled=true": "delayed_labels: not for task = 'topics'; clusters are made without labels",
    'evaluation.slice_by=["split"]': "evaluation.slice_by: not for task = 'topics'; clusters are made without labels",
    'evaluation.references=["x"]': "evaluation.references: not for task = 'topics'; clusters are made without labels",
    "drain.enabled=true": "drain: not for task = 'topics'; templates go with learners of texts",
    "priors.a={x = 1}": "priors: not for task = 'topics'; words are set by hand for labels of texts only",
    "pipeline.max_table_bytes=1000": "pipeline.max_table_bytes: the tables of clusters need up to 404,750,336 bytes, "
    "more than 1,000; use fewer clusters, a smaller features.bits, or raise the limit",
    "learners.leader.clusters=1": "learners.leader.clusters: input should be greater than or equal to 2, got 1",
}


@pytest.mark.parametrize(("given", "expected"), REFUSED.items(), ids=REFUSED)
def test_what_topics_have_no_use_for_is_refused(given: str, expected: str, tmp_path: Path) -> None:
    stream = write_lines(tmp_path / "in.jsonl", [{"text": "x"}])
    assert refused("run", stream, "--task", "topics", "--set", given) == expected


def test_other_commands_refuse_topics_in_one_line(tmp_path: Path) -> None:
    stream = write_lines(tmp_path / "in.jsonl", [{"text": "x"}])
    command_line("run", stream, "--task", "topics", "--checkpoint", tmp_path / "s")
    assert refused("explain", tmp_path / "s", "x").startswith("explain: not for task = 'topics'; ")
    assert refused("serve", tmp_path / "s", "0", "--task", "topics").startswith("serve: not for task = 'topics'; ")
    assert refused("serve", tmp_path / "s", "0").startswith("serve: not for task = 'topics'; ")
    line = refused("run", stream, "--task", "topics", "--learner", "naive_bayes")
    assert line.startswith("learners.naive_bayes: not a learner of task = 'topics'; choose from leader")
    line = refused("run", stream, "--learner", "leader")
    assert line.endswith("or set task = 'topics'")
    assert "task" in refused("run", stream, "--checkpoint", tmp_path / "s", code=4)


def test_page_and_metrics_show_clusters(browser: Browser, stream: Path, config: Path, tmp_path: Path) -> None:
    process, url = started(*arguments(tmp_path / "run", stream, config, 50), "--follow", "--dashboard-hide-text")
    told = followed(process, url, 1000)[-1]
    assert finish(process).code == 0
    assert [len(clusters) for clusters in told["topics"].values()] == [12, 8, 8]
    assert {words for _, _, words, *_ in told["topics"]["leader"]} == {None}
    page = tmp_path / "report.html"
    command_line(*arguments(tmp_path / "again", stream, config, 500), "--report", page)
    with browser.new_page(viewport={"width": 390, "height": 800}) as tab:
        tab.set_default_timeout(1000 * PATIENCE)
        tab.goto(page.as_uri())
        tab.wait_for_selector("#counts dd")
        assert tab.inner_text("#accuracy-title") == "Clusters"
        assert tab.get_by_role("heading", name="Largest clusters of leader").is_visible()
        assert tab.locator("#topics section").first.locator("tbody tr").count() == 12
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    process, url = started(*arguments(tmp_path / "more", stream, config, 50), "--follow", option="--metrics")
    until(lambda: 'streamlin_learner_nmi{learner="leader"' in asked(url, "metrics")[1], process)
    assert "streamlin_learner_new_texts_ratio" in asked(url, "metrics")[1]
    kill(process)


def test_a_pipeline_clusters_texts(tmp_path: Path) -> None:
    pipeline = Pipeline(task="topics", learners=["leader", "k_means"])
    texts = ["rain in the north", "snow in the north", "shares fell", "shares rose"]
    found = [
        (one.predicted, one.confidence, one.learners["k_means"]) for one in pipeline.run([{"text": t} for t in texts])
    ]
    assert [number for number, *_ in found] == [1, 1, 2, 2]
    pipeline.learn_one("shares fell again")
    assert pipeline.predict_many(["rain", "shares", "unknown"]) == [1, 2, None]
    assert pipeline.metrics["topics"]["leader"][0]["texts"] == 3
    pipeline.save(tmp_path / "s")
    assert Pipeline.load(tmp_path / "s").predict_many(["rain", "shares"]) == [1, 2]
    from streamlin.errors import ConfigError

    with pytest.raises(ConfigError, match="not for task = 'topics'"):
        pipeline.explain("rain")
    with pytest.raises(ConfigError, match="not for task = 'topics'"):
        pipeline.predict_proba_one("rain")


def test_soft_clusters_are_those_of_the_twin(data: Path, tmp_path: Path) -> None:
    events = real_events(data / "trec-6.jsonl.gz", 200)
    stream = write_lines(tmp_path / "in.jsonl", events)
    more = ("--set", "features.bits=22", "--set", "learners.soft_k_means.clusters=6")
    done = command_line("run", stream, "--task", "topics", "--learner", "soft_k_means", *more, "--predictions", "-")
    twin = NaiveSoftKMeans(6)
    for event, line in zip(events, done.lines, strict=True):
        number, share, new = twin.learn(dict.fromkeys(_words(event["text"]), 1.0))
        assert (line["cluster"], line["new"]) == (number, new)
        assert (line["similarity"] is None) == (share is None)


def test_few_rows_and_negative_values_are_told_once(tmp_path: Path) -> None:
    stream = tmp_path / "in.vw"
    stream.write_text("| a:-1 b\n| c d\n| e:-2 f\n")
    more = ("--set", "features.max_rows=3", "--set", "pipeline.batch_size=1")
    done = command_line("run", f"{stream}?format=vw", "--task", "topics", *more)
    assert done.err.splitlines() == [
        "streamlin: values below 0 are taken as 0, since words are counted",
        "streamlin: features.max_rows: there are 3 features, further ones are ignored",
    ]


def test_labels_beyond_the_limit_count_as_one(tmp_path: Path) -> None:
    events: list[Any] = [{"text": "abcdefgh"[i % 8], "label": str(i)} for i in range(60)]
    stream = write_lines(tmp_path / "in.jsonl", events)
    report = tmp_path / "report.json"
    limit = ("--set", "evaluation.confusion_labels=5", "--checkpoint", tmp_path / "s")
    for n in (20, 40):
        command_line("run", stream, "--task", "topics", "--report", report, "--limit", n, *limit)
    found = measured(report)
    assert found["labels"] == ["0", "1", "2", "3", "4"]
    assert {cluster["label"] for cluster in found["topics"]["leader"]} == {"(other)"}


@pytest.mark.parametrize(("name", "least"), [("clinc150", 0.5)])
def test_clusters_agree_with_real_labels(data: Path, name: str, least: float, tmp_path: Path) -> None:
    command_line("run", data / f"{name}.jsonl.gz", "--task", "topics", "--report", tmp_path / "r.json")
    assert measured(tmp_path / "r.json")["learners"]["leader"]["nmi"] >= least
