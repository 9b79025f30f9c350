"""`streamlin.Pipeline`: everything from Python."""

import json
import logging
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from river import datasets

import streamlin
from streamlin import Pipeline
from streamlin.config.loading import load_config
from streamlin.errors import RecordError
from streamlin.running.loop import Run
from tests.command_line import command_line
from tests.sample_streams import topics
from tests.silent import Silent

LEARNERS = ("naive_bayes", "perceptron")
PACE = ("seconds", "events_per_second")
N = 500


@pytest.fixture(scope="module")
def events() -> list[tuple[str, str | None]]:
    """Texts of three labels; every eleventh has no label."""
    return [(text, label if i % 11 else None) for i, (text, label) in enumerate(topics(N, labels=3))]


@pytest.fixture(scope="module")
def path(events: list[tuple[str, str | None]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stream") / "in.jsonl"
    path.write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in events))
    return path


@pytest.fixture(scope="module")
def expected(path: Path) -> dict[str, Any]:
    """The report of a run over the file."""
    config = load_config(flags={"source.url": str(path)}, learners=LEARNERS, environment={})
    with closing(Run(config, Silent())) as run:
        return measured(run.run())


def measured(report: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in report.items() if key not in PACE}


def frame(events: list[tuple[str, str | None]]) -> dict[str, list[str | None]]:
    return {"text": [text for text, _ in events], "label": [label for _, label in events]}


SOURCES: dict[str, Callable[[Any, Path], Any]] = {
    "path": lambda events, path: path,
    "url": lambda events, path: f"file://{path}",
    "pairs": lambda events, path: events,
    "generator": lambda events, path: iter(events),
    "mappings": lambda events, path: [{"text": text, "label": label} for text, label in events],
    "x mappings": lambda events, path: [({"text": text}, label) for text, label in events],
    "pandas": lambda events, path: pd.DataFrame(frame(events)),
    "polars": lambda events, path: pl.DataFrame(frame(events)),
    "lazy polars": lambda events, path: pl.LazyFrame(frame(events)),
    "arrow": lambda events, path: pa.table(frame(events)),
}


@pytest.mark.parametrize("source", SOURCES)
def test_all_kinds_of_sources_give_the_same_predictions(
    source: str, events: list[tuple[str, str | None]], path: Path, expected: dict[str, Any]
) -> None:
    pipeline = Pipeline(learners=LEARNERS)
    predictions = list(pipeline.run(SOURCES[source](events, path)))
    assert measured(pipeline.metrics) == expected
    assert [prediction.label for prediction in predictions] == [label for _, label in events]
    right = sum(prediction.label == prediction.learners["perceptron"] for prediction in predictions if prediction.label)
    assert right == expected["learners"]["perceptron"]["correct"]


def test_events_one_by_one_equal_a_run(events: list[tuple[str, str | None]], expected: dict[str, Any]) -> None:
    pipeline, whole = Pipeline(learners=LEARNERS), Pipeline(learners=LEARNERS)
    for (text, label), prediction in zip(events, whole.run(events), strict=True):
        assert pipeline.predict_one(text) == prediction.predicted
        shares = pipeline.predict_proba_one(text)
        if prediction.predicted is not None:
            assert max(shares.values()) == prediction.confidence
            assert sum(shares.values()) == pytest.approx(1.0)
        assert pipeline.learn_one(text, label) is pipeline
    assert measured(pipeline.metrics) == expected
    assert pipeline.labels == expected["labels"]
    assert repr(pipeline) == "<Pipeline naive_bayes, perceptron: 500 events, 3 labels>"


def test_learn_many_and_predict_many_equal_single_calls(
    events: list[tuple[str, str | None]], expected: dict[str, Any]
) -> None:
    pipeline = Pipeline(learners=LEARNERS)
    texts, labels = [text for text, _ in events], [label for _, label in events]
    assert pipeline.predict_many(texts[:3]) == [None] * 3
    assert pipeline.predict_proba_one(texts[0]) == {}
    pipeline.learn_many(texts, labels)
    assert measured(pipeline.metrics) == expected
    assert pipeline.predict_many(texts) == [pipeline.predict_one(text) for text in texts]


@pytest.mark.parametrize(("weights", "winner"), [((1.0, 3.0), "y"), ((3.0, 1.0), "x")])
def test_weights_count_in_learning_and_metrics(weights: tuple[float, float], winner: str) -> None:
    pipeline = Pipeline(learners=["naive_bayes"]).learn_many(["a", "a"], ["x", "y"], weights)
    assert pipeline.predict_one("a") == winner
    assert Pipeline(learners=["naive_bayes"]).learn_one("a", "x", 0.0).labels == []


def test_results_can_be_frames(events: list[tuple[str, str | None]], path: Path) -> None:
    def results() -> Any:
        return Pipeline(learners=LEARNERS).run(path)

    columns = results().columns()
    assert list(columns) == ["id", "predicted", "confidence", *LEARNERS, "label"]
    assert columns["label"] == [label for _, label in events]
    assert columns["id"][0] == f"{path}:0"
    frames = results().to_pandas(), results().to_polars().to_pandas(), results().to_arrow().to_pandas()
    for found in frames:
        assert list(found.columns) == list(columns)
        assert found["perceptron"].tolist()[5:] == columns["perceptron"][5:]
        assert len(found) == N
    begun = results()
    first = next(begun)
    rest = begun.columns()
    assert [first.predicted, *rest["predicted"]] == columns["predicted"]


def test_a_river_dataset_is_a_source() -> None:
    pipeline = Pipeline(learners=["naive_bayes"], fields={"text": "body"})
    results = pipeline.run([({"body": x}, y) for x, y in [("win a prize", True), ("see you", False)] * 50])
    assert {prediction.label for prediction in results} == {"True", "False"}
    phishing = Pipeline(learners=["naive_bayes"])  # there is no text in it
    with pytest.raises(streamlin.ConnectorError, match="1000 records in a row could not be read"):
        list(phishing.run(datasets.Phishing()))
    assert phishing.metrics["dead_letters"] == 1000


def test_explanations_name_ngrams_and_labels(events: list[tuple[str, str | None]]) -> None:
    pipeline = Pipeline(learners=LEARNERS, fields={"categories": ["queue"]}, features={"names": 1000})
    list(pipeline.run([({"text": text, "queue": f"q{label}"}, label) for text, label in events]))
    x = {"text": events[0][0], "queue": "qlabel1"}
    why = pipeline.explain(x)
    assert list(why.learners) == list(LEARNERS)
    assert "queue=qlabel1" in repr(why)
    assert list(pipeline.explain(x, ["perceptron"]).learners) == ["perceptron"]
    assert x["text"].split()[0] in why._repr_html_()
    with pytest.raises(streamlin.ConfigError, match="no learner 'perceptrn'; did you mean 'perceptron'"):
        pipeline.explain(x, ["perceptrn"])


def test_explanations_of_sentences_name_features_and_tags() -> None:
    pipeline = Pipeline(task="tagging", learners=["crf", "hmm"], fields={"columns": ["pos"]})
    event = {"tokens": ["the", "dog"], "pos": ["D", "N"]}
    for _ in range(3):
        pipeline.learn_one(event, ["O", "B-X"])
    why = pipeline.explain(event)
    assert (list(why.learners), why.predicted) == (["crf", "hmm"], ["O", "B-X"])
    assert "pos-1|pos=D|N" in json.dumps(why.to_dict(99))
    assert repr(why).startswith("crf: O B-X, confidence 0.9")
    assert list(pipeline.explain("the dog", ["hmm"]).learners) == ["hmm"]
    assert "<ruby>dog<rt>B-X</rt></ruby>" in why._repr_html_()
    for x in ([], "", {"tokens": []}):
        with pytest.raises(streamlin.RecordError, match="the sentence has no tokens"):
            pipeline.explain(x)
    with pytest.raises(streamlin.ConfigError, match="no learner 'cfr'; did you mean 'crf'"):
        pipeline.explain(event, ["cfr"])


def test_a_saved_pipeline_can_be_loaded(events: list[tuple[str, str | None]], tmp_path: Path) -> None:
    pipeline = Pipeline(learners=LEARNERS, features={"bits": 18, "words": {"ngrams": [1, 1]}})
    list(pipeline.run(events))
    pipeline.save(tmp_path / "state")
    loaded = Pipeline.load(tmp_path / "state")
    assert loaded.config.features.bits == 18
    assert measured(loaded.metrics) == measured(pipeline.metrics)
    texts = [text for text, _ in events]
    assert loaded.predict_many(texts) == pipeline.predict_many(texts)
    done = command_line("predict", tmp_path / "state", "-?format=text", stdin="\n".join(texts).encode())
    assert [line["predicted"] for line in done.lines] == loaded.predict_many(texts)
    loaded.learn_one("quite new", "d")
    assert Pipeline.load(tmp_path / "state").labels == pipeline.labels, "a loaded one saves nothing by itself"


def test_with_a_checkpoint_a_pipeline_resumes(path: Path, tmp_path: Path, expected: dict[str, Any]) -> None:
    kept = {"learners": LEARNERS, "checkpoint": {"path": tmp_path / "state"}}
    with Pipeline(**kept) as pipeline:
        assert len(list(pipeline.run(path, limit=120))) == 120
        with pytest.raises(streamlin.CheckpointError, match="in use by another"):
            Pipeline(**kept)
        assert len(list(pipeline.run(path, limit=80))) == 80
    with Pipeline(**kept) as pipeline:
        assert pipeline.metrics["events"] == 200
        assert len(list(pipeline.run(path))) == N - 200
        assert measured(pipeline.metrics) == expected
        pipeline.learn_one("one more", "d").save()
    with Pipeline(**kept) as pipeline:
        assert pipeline.labels == [*expected["labels"], "d"]
        assert list(pipeline.run(path)) == []


def test_without_a_checkpoint_a_run_begins_at_the_beginning(path: Path) -> None:
    pipeline = Pipeline(learners=["perceptron"])
    for _ in range(2):
        assert len(list(pipeline.run(path, limit=10))) == 10
    assert pipeline.metrics["events"] == 20


def test_a_run_left_early_can_go_on(path: Path, tmp_path: Path) -> None:
    kept = {"learners": LEARNERS, "checkpoint": {"path": str(tmp_path / "state")}, "pipeline": {"batch_size": 10}}
    with Pipeline(**kept) as pipeline:
        for number, _ in enumerate(pipeline.run(path)):
            if number == 14:
                break
        with pipeline.run(path) as results:
            next(results)
    with Pipeline(**kept) as pipeline:
        assert pipeline.metrics["events"] == 30, "two batches, then one more"
        assert len(list(pipeline.run(path))) == N - 30


def test_finish_runs_to_the_end(path: Path, expected: dict[str, Any]) -> None:
    results = Pipeline(learners=LEARNERS).run(path)
    assert measured(results.finish()) == expected
    assert list(results) == []


def test_a_run_writes_to_sinks(path: Path, tmp_path: Path) -> None:
    pipeline = Pipeline(learners=LEARNERS, sinks={"predictions": tmp_path / "out.jsonl"})
    found = [(p.predicted, p.label) for p in pipeline.run(path)]
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [(line["predicted"], line.get("label")) for line in lines] == found


def test_bad_rows_are_dead_letters() -> None:
    pipeline = Pipeline(learners=["naive_bayes"])
    rows: list[Any] = [("a", "x"), (None, "x"), 7, {"label": "x"}, ("b", float("nan")), "c", "\ud800", ("d", "y")]
    assert [p.label for p in pipeline.run(rows)] == ["x", None, None, "y"]
    assert pipeline.metrics["dead_letters"] == 4
    nested: dict[str, Any] = {}
    nested["text"] = nested
    with pytest.raises(streamlin.ConnectorError, match="all 1 records are dead letters"):
        list(pipeline.run([nested]))


def test_missing_values_of_frames_are_missing_fields() -> None:
    frame = pd.DataFrame({"text": ["a", None, "c", "d"], "label": pd.array([1, 2, None, 3], dtype="Int64")})
    pipeline = Pipeline(learners=["naive_bayes"])
    assert [p.label for p in pipeline.run(frame)] == ["1", None, "3"]
    assert pipeline.metrics["dead_letters"] == 1
    times = pd.DataFrame({"text": ["a", "b"], "label": ["x", "y"], "time": pd.to_datetime(["2024-05-01", None])})
    assert len(list(pipeline.run(times))) == 2


def test_mappings_of_the_caller_are_not_changed() -> None:
    pipeline = Pipeline(learners=["naive_bayes"], fields={"text": "m.text", "label": "m.label"})
    x = {"m": {"text": "a"}}
    pipeline.learn_one(x, "y")
    assert x == {"m": {"text": "a"}}
    assert pipeline.labels == ["y"]


@pytest.mark.parametrize(
    ("x", "y", "w", "said"),
    [
        (7, "y", 1.0, "expected a text"),
        (None, "y", 1.0, "expected a text"),
        ("a", "y", -1.0, "weight is -1"),
        ({"words": "a"}, "y", 1.0, "text"),
        ({"text": 7}, "y", 1.0, "text"),
    ],
)
def test_an_invalid_event_is_refused_and_nothing_learned(x: Any, y: Any, w: float, said: str) -> None:
    pipeline = Pipeline(learners=["naive_bayes"])
    with pytest.raises(streamlin.RecordError, match=said):
        pipeline.learn_many(["good", x], ["y", y], [1.0, w])
    assert pipeline.metrics["events"] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"learners": ["naive_bays"]}, "did you mean 'naive_bayes'"),
        ({"features": {"bits": 99}}, "features.bits"),
        ({"nothing": {}}, "nothing"),
        ({"config": 7}, "TOML"),
        ({"config": "/no/file.toml"}, "No such file"),
        ({"learners": "naive_bayes"}, "learners"),
    ],
)
def test_an_invalid_configuration_is_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(streamlin.ConfigError, match=said):
        Pipeline(**arguments)


def test_an_invalid_source_is_refused() -> None:
    pipeline = Pipeline(learners=["naive_bayes"])
    for source, said in ((7, "can't read events from int"), ("nowhere://x", "nowhere"), ("/no/such", "No such file")):
        with pytest.raises(streamlin.StreamlinError, match=said):
            pipeline.run(source)
    with pytest.raises(streamlin.ConfigError, match="name a folder"):
        pipeline.save()


def test_an_error_of_rows_is_raised_after_learning_earlier_rows() -> None:
    def rows() -> Any:
        yield from [("a", "x")] * 3
        raise ZeroDivisionError("of the rows")

    pipeline = Pipeline(learners=["naive_bayes"], pipeline={"batch_size": 1})
    with pytest.raises(ZeroDivisionError, match="of the rows"):
        list(pipeline.run(rows()))
    assert pipeline.metrics["events"] == 3


def test_news_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    pipeline = Pipeline(learners=["naive_bayes"])
    with caplog.at_level(logging.WARNING, logger="streamlin"):
        list(pipeline.run([("a", "x"), 7]))
    assert "dead letter at rows:1" in caplog.text


def test_a_notebook_shows_a_table(events: list[tuple[str, str | None]]) -> None:
    pipeline = Pipeline(learners=LEARNERS)
    list(pipeline.run(events))
    html = pipeline._repr_html_()
    assert html.startswith("<pre")
    assert "perceptron" in html
    assert f"{N:,} events" in html


LATE_LABELS = (
    ({}, {"text": "win a prize"}, "spam", "ham", {"text": "a prize"}, "spam"),
    (
        {"task": "tagging", "learners": ["hmm"]},
        {"tokens": ["the", "dog"]},
        ["DET", "NOUN"],
        ["DET", "VERB"],
        {"tokens": ["the", "cat"]},
        ["DET", "NOUN"],
    ),
)


@pytest.mark.parametrize(("tables", "x", "y", "other", "probe", "predicted"), LATE_LABELS, ids=["texts", "sentences"])
def test_labels_may_come_later(
    tables: dict[str, Any], x: dict[str, Any], y: Any, other: Any, probe: dict[str, Any], predicted: Any
) -> None:
    """By id, in a call of their own; the metrics say what became of them."""
    pipeline = Pipeline(delayed_labels={"enabled": True}, **tables)
    pipeline.learn_one(x | {"id": "1"}, None)
    assert pipeline.labels == []
    pipeline.learn_many([{"id": "1"}, {"id": "1"}], [y, other])
    assert pipeline.predict_one(probe) == pipeline.predict_one(probe | {"id": "1"}) == predicted
    counts = pipeline.metrics["delayed_labels"]
    assert (counts["joined"], counts["contradicted"], counts["waiting"]) == (1, 1, 0)
    rows = [(x | {"id": "2"}, None), ({"id": "2"}, y)]
    assert [(line.predicted, line.label) for line in pipeline.run(rows)] == [
        (pipeline.predict_one(x), [None] * 2 if tables else None)
    ]
    assert pipeline.metrics["delayed_labels"]["joined"] == 2


@pytest.mark.parametrize(("tables", "x", "y"), [case[:3] for case in LATE_LABELS], ids=["texts", "sentences"])
def test_a_label_alone_has_no_prediction(tables: dict[str, Any], x: dict[str, Any], y: Any) -> None:
    pipeline = Pipeline(delayed_labels={"enabled": True}, **tables)
    pipeline.learn_one(x, y)
    alone = {"id": "1", ("tags" if tables else "label"): y}
    calls: list[Callable[[Any], Any]] = [pipeline.predict_one, lambda event: pipeline.predict_many([x, event])]
    for call in calls if tables else [*calls, pipeline.predict_proba_one, pipeline.explain]:
        with pytest.raises(RecordError, match=r"expected .* text, found only"):
            call(alone)


def test_tags_of_another_length_are_told(caplog: pytest.LogCaptureFixture) -> None:
    pipeline = Pipeline(task="tagging", learners=["hmm"], delayed_labels={"enabled": True})
    pipeline.learn_one({"id": "1", "tokens": ["the", "dog"]}, None)
    pipeline.learn_one({"id": "1"}, ["DET"])
    assert pipeline.metrics["delayed_labels"]["wrong_length"] == 1
    assert "id '1', late tags: 1 for 2 tokens, expected as many" in caplog.text
    assert pipeline.labels == []
