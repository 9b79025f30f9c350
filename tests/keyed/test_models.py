"""Models per key: each is what a run of its key's events alone makes, to the bit, and all promises of a run hold."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from streamlin import ConfigError, Pipeline
from streamlin.events import Batch
from streamlin.learners import KINDS
from streamlin.model import Model
from streamlin.running.admission import Admission

FEW = ("naive_bayes", "logistic_regression")
Events = Sequence[Mapping[str, Any]]


def stream(n: int, keys: int, seed: int = 0) -> list[dict[str, Any]]:
    """Events of few words, whose label goes by words and key; some lack the label, the key, or all words."""
    draw = random.Random(seed)
    events: list[dict[str, Any]] = []
    for number in range(n):
        key, words = draw.randrange(keys), draw.choices(range(12), k=draw.randrange(7))
        event: dict[str, Any] = {"id": str(number), "text": " ".join(f"w{word}" for word in words), "weight": 1.0}
        if draw.random() < 0.9:
            event["customer"] = f"k{key}"
        if draw.random() < 0.8:
            event["label"] = "abcd"[(sum(words) + key) % (2 + key % 3)]
        if draw.random() < 0.1:
            event["weight"] = draw.choice([0.0, 0.5, 2.0])
        events.append(event)
    return events


def keyed(learners: Sequence[Any] = FEW, batch_size: int = 7, threads: int = 1, **tables: Any) -> Pipeline:
    keys = {"per": "customer"} | tables.pop("keys", {})
    pipeline = {"batch_size": batch_size, "threads": threads}
    return Pipeline(learners=list(learners), keys=keys, pipeline=pipeline, **tables)


def predicted(pipeline: Pipeline, events: Events) -> list[Any]:
    """Of each event what was predicted, with its confidence, and by each learner."""
    return [(one.predicted, one.confidence, one.learners) for one in pipeline.run(events)]


def model_of(pipeline: Pipeline) -> Model:
    return pipeline._state.model


def arrays_of(pipeline: Pipeline) -> dict[str, NDArray[Any]]:
    return {name: array.copy() for name, array in model_of(pipeline).state()[0].items()}


def assert_same(one: dict[str, NDArray[Any]], other: dict[str, NDArray[Any]]) -> None:
    assert one.keys() == other.keys()
    for name, array in one.items():
        assert np.array_equal(array, other[name], equal_nan=array.dtype.kind == "f"), name


def of_key(pipeline: Pipeline, key: str, name: str) -> tuple[NDArray[np.int32], list[str], dict[str, NDArray[Any]]]:
    """The buckets of a key's rows, its labels, and the tables of its own model."""
    model = model_of(pipeline)
    assert model.keys is not None
    slot, view = int(model.keys.slots.look_up([key])[0]), model.views_of[name][0]
    rows, codes = model.keys.rows[view], model.keys.labels
    begin, count, width = int(rows.begin[slot]), int(rows.count[slot]), int(codes.count[slot])
    labels = [model.labels.names[code] for code in codes.code_of[slot, :width]]
    learner = model.keys.learners[name].of_key(slot, begin, count, width)
    return rows.bucket_of[begin : begin + count], labels, {table: getattr(learner, table) for table in learner.tables}


def alone(name: str, learner: Any, events: Events) -> tuple[Pipeline, list[Any]]:
    """A run without keys; and what its learner predicts."""
    pipeline = Pipeline(learners=[learner])
    return pipeline, [one.learners[name] for one in pipeline.run(events)]


def check_alone(events: Events, learners: Sequence[Any]) -> None:
    """Each key's predictions, labels, rows and tables are those of a run of its events alone."""
    pipeline = keyed(learners, keys={"shared": False})
    results = [one.learners for one in pipeline.run(events)]
    for learner in learners:
        name = learner if isinstance(learner, str) else learner["name"]
        for key in {event["customer"] for event in events if "customer" in event and "label" in event}:
            chosen = [i for i, event in enumerate(events) if event.get("customer") == key]
            own, predictions = alone(name, learner, [events[i] for i in chosen])
            assert [results[i][name] for i in chosen] == predictions, (name, key)
            if own.labels:
                buckets, labels, tables = of_key(pipeline, key, name)
                model = model_of(own)
                assert (buckets.tolist(), labels) == (model.rows["words"].buckets.tolist(), own.labels)
                assert_same(tables, dict(model.learners[name].state(len(buckets), len(labels))))


def test_every_learner_learns_a_key_as_if_alone() -> None:
    """Of all learners, also with options that bring further tables; words, pairs, values, labels and weights."""
    options = [
        {"kind": "naive_bayes", "name": "forgetting", "half_life": 2, "reset": 0.5, "smoothing": "prior"},
        {"kind": "passive_aggressive", "name": "mira", "averaged": True, "half_life": 9},
        {"kind": "logistic_regression", "name": "by_feature", "squares": "feature"},
        {"kind": "sgd", "name": "pegasos", "rate": "pegasos", "l2": 0.01},
    ]
    check_alone(stream(400, 5), [*KINDS, *options])


@settings(max_examples=15)
@given(st.integers(0, 1000), st.integers(1, 60), st.integers(1, 6))
def test_any_keys_are_learned_as_if_alone(seed: int, n: int, keys: int) -> None:
    check_alone(stream(n, keys, seed), ["averaged_perceptron"])


def test_worked_by_hand() -> None:
    """A perceptron per key. Customer 1 calls a word good, 2 calls it bad.

    1: bias and word are 0 and there is one label, so nothing is a mistake; "bad" with word b then is one: W_bad,b = 1,
    W_good,b = -1, the biases 1 and -1. Customer 2 knows its own "bad" alone, so it predicts that, where the shared
    model predicts what it has learned of both.
    """
    pipeline = keyed(["perceptron"], keys={"shared": False})
    events = [("1", "a", "good"), ("2", "a", "bad"), ("1", "b", "bad"), ("2", "b", None), ("1", "a", None)]
    for customer, text, label in events[:3]:
        pipeline.learn_one({"text": text, "customer": customer}, label)
    buckets, labels, tables = of_key(pipeline, "1", "perceptron")
    assert (len(buckets), labels) == (2, ["good", "bad"])
    assert tables["weights"].tolist() == [[0.0, 0.0], [-1.0, 1.0]]
    assert tables["bias"].tolist() == [-1.0, 1.0]
    assert [pipeline.predict_one({"text": text, "customer": who}) for who, text, _ in events[3:]] == ["bad", "bad"]
    assert pipeline.predict_one({"text": "a", "customer": "new"}) is None, "it has no model"
    assert pipeline.predict_one("a") is None, "it has no key"


@pytest.fixture(scope="module")
def whole() -> tuple[list[Any], dict[str, NDArray[Any]], dict[str, Any]]:
    """Predictions, arrays and report of a run of batches of 7, in which keys are dropped; with a mixture."""
    pipeline = keyed([*FEW, "mixture"], keys={"max_keys": 4})
    given_out = predicted(pipeline, stream(600, 9))
    return given_out, arrays_of(pipeline), pipeline.metrics["keys"]


@pytest.mark.parametrize(("batch_size", "threads"), [(1, 1), (500, 1), (500, 2), (7, 2)])
def test_nothing_depends_on_batches_or_threads(
    whole: tuple[list[Any], dict[str, NDArray[Any]], dict[str, Any]], batch_size: int, threads: int
) -> None:
    pipeline = keyed([*FEW, "mixture"], batch_size, threads, keys={"max_keys": 4})
    assert predicted(pipeline, stream(600, 9)) == whole[0]
    assert_same(arrays_of(pipeline), whole[1])
    assert pipeline.metrics["keys"] == whole[2]


def test_a_checkpoint_goes_on_as_if_nothing_happened(
    whole: tuple[list[Any], dict[str, NDArray[Any]], dict[str, Any]], tmp_path: Path
) -> None:
    """After any event, also between the events of a key that is dropped."""
    events, given_out, pipeline = stream(600, 9), list[Any](), keyed([*FEW, "mixture"], keys={"max_keys": 4})
    for first, last in [(0, 5), (5, 99), (99, 100), (100, 431), (431, 600)]:
        given_out += predicted(pipeline, events[first:last])
        pipeline.save(tmp_path / "state")
        pipeline = Pipeline.load(tmp_path / "state")
    assert given_out == whole[0]
    assert_same(arrays_of(pipeline), whole[1])
    assert pipeline.metrics["keys"] == whole[2]


def test_the_report_tells_of_keys(whole: tuple[list[Any], dict[str, NDArray[Any]], dict[str, Any]]) -> None:
    """Counts are those of the stream; the accuracy of answers is that of the whole run on events with a key."""
    events, told = stream(600, 9), whole[2]
    labelled = [i for i, e in enumerate(events) if "label" in e and "customer" in e and e["weight"] > 0]
    assert (told["per"], told["keys"], told["max_keys"]) == ("customer", 4, 4)
    assert told["without_key"] == sum("customer" not in event for event in events)
    assert told["labelled"] == len(labelled)
    weight = sum(events[i]["weight"] for i in labelled)
    for name, row in told["learners"].items():
        hits = sum(events[i]["weight"] * (whole[0][i][2][name] == events[i]["label"]) for i in labelled)
        assert row["accuracy"] == pytest.approx(hits / weight)
    assert told["dropped"] > 50
    assert "own" not in told["learners"]["mixture"]


def permuted(n: int, keys: int) -> list[dict[str, Any]]:
    """The label follows from a word, but otherwise for each key."""
    draw = random.Random(1)
    words = [draw.randrange(4) for _ in range(n)]
    found = []
    for word in words:
        key = draw.randrange(keys)
        label = f"label{(word + key) % 4}"
        found.append({"text": f"w{word} w{draw.randrange(50)}", "customer": f"k{key}", "label": label})
    return found


def test_own_models_answer_where_labels_go_by_key() -> None:
    """The race finds it out: no learner is worse than the better one of its two models by more than a point."""
    pipeline = keyed([*FEW, "mixture"], 100)
    pipeline.run(permuted(2000, 5)).finish()
    rows = pipeline.metrics["keys"]["learners"]
    for name in FEW:
        assert rows[name]["keys_ahead"] == 5
        assert rows[name]["own"] > rows[name]["shared"] + 0.4
        assert rows[name]["accuracy"] > rows[name]["own"] - 0.01
    assert rows["mixture"]["accuracy"] > rows["naive_bayes"]["accuracy"] - 0.02


def test_the_shared_model_learns_what_it_learns_without_keys() -> None:
    """And it alone answers, as without keys, where no event has a key."""
    events = stream(300, 4)
    plain = Pipeline(learners=list(FEW))
    predicted(plain, events)
    pipeline = keyed()
    predicted(pipeline, events)
    shared = {name: array for name, array in arrays_of(pipeline).items() if name.startswith(("learners/", "rows/"))}
    assert_same(shared, {name: array for name, array in arrays_of(plain).items() if name in shared})
    without = [{name: value for name, value in event.items() if name != "customer"} for event in events]
    assert predicted(keyed(), without) == predicted(Pipeline(learners=list(FEW)), without)


def test_hidden_labels_change_no_prediction_of_their_event() -> None:
    events = stream(120, 3)
    shown = predicted(keyed(), events)
    for i in range(0, 120, 10):
        hidden = [{k: v for k, v in event.items() if k != "label" or j != i} for j, event in enumerate(events)]
        assert predicted(keyed(), hidden)[: i + 1] == shown[: i + 1]


@pytest.mark.parametrize("delayed", [{"delay": 20}, {"enabled": True}])
def test_late_labels_teach_the_model_of_their_key(delayed: dict[str, Any]) -> None:
    """The key's own model learns a text when its label comes; it is the same in any batches."""
    events = stream(200, 4)
    if "enabled" in delayed:
        late = [{"id": event["id"], "label": event.pop("label")} for event in events if "label" in event]
        events = [*events, *late]
    runs = []
    for size in (1, 7, 500):
        pipeline = keyed(batch_size=size, delayed_labels=delayed)
        runs.append((predicted(pipeline, events), arrays_of(pipeline), pipeline.metrics["keys"]))
    for other in runs[1:]:
        assert other[0] == runs[0][0]
        assert_same(other[1], runs[0][1])
        assert other[2] == runs[0][2]
    assert runs[0][2]["labelled"] > 100
    assert runs[0][2]["keys"] == 4
    assert runs[0][2]["without_key"] == sum("customer" not in event for event in events[:200])


def test_memory_stays_bounded_under_ever_new_keys() -> None:
    """Ten thousand keys, 50 at a time: slots and rows are those of 50 keys and of the new ones of a batch."""
    pipeline = keyed(["perceptron"], 100, keys={"max_keys": 50})
    arenas = []
    for part in range(10):
        batch = [{"text": f"a{i} b{i} c", "customer": f"{part}/{i}", "label": "xy"[i % 2]} for i in range(1000)]
        pipeline.run(batch).finish()
        keys = model_of(pipeline).keys
        assert keys is not None
        arenas.append((keys.slots.size, keys.rows["words"].arena, keys.learners["perceptron"].tables["bias"].shape))
    assert set(arenas[1:]) == {arenas[1]}
    assert (arenas[-1][0], arenas[-1][1]) == (150, 150 * 16)
    assert pipeline.metrics["keys"]["dropped"] == 9950


def test_explanations_are_those_of_the_answering_model() -> None:
    """The terms of the key's own model sum up to its scores, of its own labels."""
    pipeline = keyed()
    pipeline.run(permuted(600, 3)).finish()
    own = pipeline.explain({"text": "w1 w7 unseen", "customer": "k2"})
    other = pipeline.explain({"text": "w1 w7 unseen", "customer": "new"})
    assert (own.predicted, other.predicted) == ("label3", pipeline.predict_one("w1 w7 unseen"))
    for name in FEW:
        reasons = own.learners[name]
        assert sorted(reasons.labels) == ["label0", "label1", "label2", "label3"]
        assert reasons.base + reasons.added.sum(axis=0) == pytest.approx(reasons.scores)
        assert set(reasons.unseen(9)) >= {"unseen", "w7 unseen"}
    with pytest.raises(ConfigError, match="'mixture' can't be explained: it is an external model, mixes one or models"):
        keyed([*FEW, "mixture"]).explain({"text": "a", "customer": "b"}, ["mixture"])


def test_tables_of_keys_count_for_the_limit() -> None:
    """The run ends before the event that exceeds it, wherever batches end; the state is the same as if it had not come.

    Each key has one label, so its perceptron has 4 bytes a row and for its bias, and 12 for the row itself. The shared
    one has 8, for two labels. Each event brings three rows to its key and to the shared model.
    """
    events = [{"text": f"a{i} b{i}", "customer": f"k{i}", "label": "xy"[i % 2]} for i in range(300)]
    found = []
    for size in (1, 7, 300):
        limit = 100 * (3 * 16 + 4) + 8 * 300 + 8
        pipeline = Pipeline(
            learners=["perceptron"],
            keys={"per": "customer"},
            pipeline={"batch_size": size, "max_table_bytes": limit},
        )
        with pytest.raises(ConfigError, match=r"max_table_bytes: at .* the learners' tables need more than"):
            pipeline.run(events).finish()
        found.append(pipeline.metrics["keys"]["keys"])
    assert found == [100, 100, 100]
    admission = Admission(model_of(pipeline), pipeline.config)
    dropping = Pipeline(
        learners=["perceptron"], keys={"per": "customer", "max_keys": 50}, pipeline={"max_table_bytes": 2 * limit}
    )
    assert admission.most_of_keys(0, 0, 2) == 100 * (3 * 16 + 4)
    assert dropping.run(events).finish()["keys"]["dropped"] == 250


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"task": "tagging", "learners": []}, "keys.per: not for task = 'tagging'"),
        ({"task": "parsing", "learners": []}, "keys.per: not for task = 'parsing'"),
        ({"task": "topics", "learners": []}, "keys.per: not for task = 'topics'"),
        ({"learners": [{"kind": "sklearn", "object": "a:b"}]}, "learners.sklearn: an external model can't learn per"),
        (
            {"learners": [{"kind": "naive_bayes", "smoothing": "prior", "unlabelled": [0.3]}]},
            "learners.naive_bayes.unlabelled: not with keys.per",
        ),
        (
            {
                "features": {"words": {}, "chars": {"tokens": "char_wb"}},
                "learners": [{"kind": "perceptron", "features": ["words", "chars"]}],
            },
            "learners.perceptron.features: not with keys.per, got several views",
        ),
        ({"features": {"words": {"min_count": 2}}}, "features.words.min_count: not with keys.per"),
        ({"ask": {"budget": 0.1}, "delayed_labels": {"enabled": True}}, "ask.budget: not with keys.per"),
        ({"priors": {"a": {"b": 1.0}}, "keys": {"shared": False}}, "priors: the shared model starts with these words"),
        ({"keys": {"max_keys": 0}}, "keys.max_keys: input should be greater than or equal to 1"),
        ({"keys": {"per": ""}}, "keys.per: string should have at least 1 character"),
    ],
)
def test_what_keys_do_not_go_with_is_refused(tables: dict[str, Any], said: str) -> None:
    tables = {"learners": ["perceptron"]} | tables
    with pytest.raises(ConfigError, match=said):
        Pipeline(**tables | {"keys": {"per": "customer"} | tables.get("keys", {})})


def test_batches_without_events_are_learned() -> None:
    """Some sources have none for a while."""
    pipeline = keyed(["perceptron"])
    model = model_of(pipeline)
    batch: Batch = pipeline._rows.batch([])
    assert len(model.step(batch, model.featurize(batch))[0]) == 0
