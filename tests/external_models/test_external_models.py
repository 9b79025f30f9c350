"""External models in a model: they predict as they do alone, on the same terms as our learners."""

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import MultinomialNB

from streamlin.config import RunConfig
from streamlin.errors import CheckpointError, ConfigError, GuestError
from streamlin.evaluation.report import report_of
from streamlin.events import Event
from streamlin.explanation import explain
from streamlin.external_models.importing import import_object
from streamlin.features import View
from streamlin.model import Model
from tests.external_models import models
from tests.sample_streams import batches, read_events, thinned

HERE = "tests.external_models.models"


def river(factory, **more):
    """A river learner's table."""
    return {"kind": "river", "object": f"{HERE}:{factory}"} | more


def sklearn(path, **more):
    """A scikit-learn learner's table."""
    return {"kind": "sklearn", "object": path, "bits": 10} | more


SGD = sklearn("sklearn.linear_model:SGDClassifier", arguments={"loss": "log_loss", "random_state": 1})
OURS = {"kind": "naive_bayes"}


def model_of(*learners, **tables):
    """A model of these learners, on few buckets."""
    return Model(RunConfig(learners=learners, features={"bits": 12}, **tables))


def run(model, events, size=64):
    """The label that each learner predicts for each event, by learner; and the notices."""
    predicted, notices = [], []
    for batch in batches(events, size):
        predicted.append(model.step(batch, model.featurize(batch))[1].predicted)
        notices += model.pop_notices()
    names = [*model.labels.names, None]
    codes = np.concatenate(predicted, axis=1)
    return {name: [names[code] for code in row] for name, row in zip(model.names, codes.tolist(), strict=True)}, notices


def kept(model):
    """The contents of a checkpoint, copied, and through JSON."""
    arrays, rest = model.state()
    return {name: array.copy() for name, array in arrays.items()}, json.loads(json.dumps(rest))


@pytest.fixture(scope="module")
def stream(data):
    """Real questions with six labels, some hidden, of various weights; none is empty, since river's Bayes may fail."""
    return [replace(event, text=event.text or "what?") for event in thinned(read_events(data / "trec-6.jsonl.gz", 300))]


def alone(events, predict, learn):
    """Test, then train: the predictions of a model by itself; labels of weight 0 are ignored."""
    known, predicted = set(), []
    for event in events:
        guess = predict(event) if known else None
        predicted.append(guess if guess in known else None)
        if event.label is not None and event.weight > 0:
            known.add(event.label)
            learn(event)
    return predicted


def test_a_river_pipeline_predicts_as_it_does_alone(stream):
    """Each event is predicted, then learned, which is river's own way."""
    twin = models.bayes(alpha=0.5)
    expected = alone(stream, lambda e: twin.predict_one(e.text), lambda e: twin.learn_one(e.text, e.label))
    predicted, notices = run(model_of(OURS, river("bayes", arguments={"alpha": 0.5})), stream)
    assert predicted["river"] == expected
    assert notices == []
    hits = sum(guess == event.label for guess, event in zip(expected, stream, strict=True))
    assert hits > 0.4 * len(stream)


def test_a_river_classifier_of_features_gets_buckets_and_values(stream):
    view = View(bits=12)

    def x(event):
        _, buckets, values = view.of_texts([event.text])
        return dict(zip(buckets.tolist(), values.tolist(), strict=True))

    twin = import_object("", "river.naive_bayes:MultinomialNB")()
    expected = alone(stream, lambda e: twin.predict_one(x(e)), lambda e: twin.learn_one(x(e), e.label))
    table = {"kind": "river", "object": "river.naive_bayes:MultinomialNB", "input": "features"}
    assert run(model_of(table), stream)[0]["river"] == expected


def rows_of(view, bits):
    """Texts in the form that scikit-learn gets, made independently."""

    def row(event):
        _, buckets, values = view.of_texts([event.text])
        dense = np.zeros((1, 1 << bits))
        np.add.at(dense[0], buckets % (1 << bits), values)
        return csr_matrix(dense)

    return row


@pytest.mark.parametrize(
    ("make", "table"),
    [
        (lambda: SGDClassifier(loss="log_loss", random_state=1), SGD),
        (lambda: SGDClassifier(random_state=1), SGD | {"arguments": {"random_state": 1}}),
        (MultinomialNB, sklearn("sklearn.naive_bayes:MultinomialNB")),
    ],
)
def test_a_scikit_learn_classifier_predicts_as_it_does_alone(stream, make, table):
    """With all labels declared, with probabilities and without, and with weights."""
    labels = sorted({event.label for event in stream} - {None})
    twin, row = make(), rows_of(View(bits=12), 10)

    def learn(event):
        twin.partial_fit(row(event), [event.label], classes=labels, sample_weight=[event.weight])

    def predict(event):
        """The best of the known labels, if the model gives probabilities."""
        if not hasattr(twin, "predict_proba"):
            return twin.predict(row(event))[0]
        shares = dict(zip(twin.classes_, twin.predict_proba(row(event))[0], strict=True))
        return max(known, key=lambda label: shares[label])

    known = []
    expected = []
    for event in stream:
        guess = predict(event) if known else None
        expected.append(guess if guess in known else None)
        if event.label is not None and event.weight > 0:
            if event.label not in known:
                known.append(event.label)
            learn(event)
    predicted, notices = run(model_of(table | {"classes": labels}), stream)
    assert predicted["sklearn"] == expected
    assert notices == []


def test_without_classes_a_new_label_starts_a_new_model():
    """Training begins at the second label; the third starts a new model, which knows three labels and one event."""
    events = [Event("a", "x"), Event("a", "x"), Event("b", "y"), Event("a", None), Event("c", "z"), Event("a", None)]
    events += [Event("d", label) for label in "wvutw"]
    model = model_of(sklearn("sklearn.naive_bayes:MultinomialNB"))
    predicted, notices = run(model, events, size=2)
    assert predicted["sklearn"][:6] == [None, None, None, "y", "y", "z"]
    assert [line.partition(": ")[2][:16] for line in notices] == [f"label '{label}' is new" for label in "zwu"]
    assert "for the first time; list all labels as classes = [...]" in notices[0]
    assert "for the 4th time" in notices[2]


def test_a_label_outside_classes_is_ignored_and_reported_once():
    events = [Event("a", "x"), Event("b", "y"), Event("c", "z"), Event("c", "z"), Event("c", "z"), Event("a", "x")]
    predicted, notices = run(model_of(SGD | {"classes": ["x", "y"]}), events)
    assert set(predicted["sklearn"][2:]) <= {"x", "y"}
    assert notices == ["sklearn, at -:8: label 'z' is not among its classes; it learns no event of it"]


def test_a_scikit_learn_classifier_of_texts(stream):
    predicted, notices = run(model_of(sklearn(f"{HERE}:Texts", input="text")), stream)
    assert len(set(predicted["sklearn"])) > 3
    assert all("is new" in line for line in notices)


@pytest.mark.parametrize("table", [river("bayes"), river("Stateful"), SGD, sklearn(f"{HERE}:Texts", input="text")])
def test_the_size_of_a_batch_changes_nothing(stream, table):
    """Neither the external model's predictions, nor those of a mixture with it, nor the metrics."""
    events = stream[:150]
    models_, found = {}, {}
    for size in (1, 7, 1000):
        models_[size] = model_of(OURS, table, {"kind": "mixture"})
        found[size] = run(models_[size], events, size)
    assert found[1] == found[7] == found[1000]
    reports = [report_of(model.prequential, model.labels) for model in models_.values()]
    assert reports[0] == reports[1] == reports[2]


@pytest.mark.parametrize("table", [river("Stateful"), SGD])
def test_hiding_a_label_does_not_change_earlier_predictions(stream, table):
    events = stream[:60]
    whole = run(model_of(table), events)[0][table["kind"]]
    for i in range(0, 60, 3):
        hidden = [*events[:i], Event(events[i].text), *events[i + 1 :]]
        assert run(model_of(table), hidden)[0][table["kind"]][: i + 1] == whole[: i + 1]


def test_an_external_model_does_not_affect_our_learners(stream):
    """With and without external models they predict and learn the same."""
    apart, together = model_of(OURS), model_of(OURS, river("bayes", pickle=True))
    assert run(apart, stream)[0]["naive_bayes"] == run(together, stream)[0]["naive_bayes"]
    ours, theirs = kept(apart)[0], kept(together)[0]
    for name, array in ours.items():
        if not name.startswith("evaluation/"):
            assert_array_equal(array, theirs[name])


def test_a_label_alone_becomes_a_calibrated_confidence():
    """A label that 90 % of the events have gets a confidence of about 90 %, though the model gives no probabilities."""
    random = np.random.default_rng(1)
    events = [Event("text", "common" if random.random() < 0.9 else "rare") for _ in range(3000)]
    model = model_of(river("Counting"))
    run(model, events)
    row = report_of(model.prequential, model.labels)["learners"]["river"]
    assert abs(row["accuracy"] - 0.9) < 0.02
    assert row["ece"] < 0.03


def test_weights_reach_models_that_accept_them():
    labels = [("x", 3.0), ("y", 1.0), ("y", 1.0), ("z", 0.0), ("x", 1.0)]
    events = [Event("a", label, weight=weight) for label, weight in labels]
    weighted, unweighted = model_of(river("Counting")), model_of(river("Unweighted"))
    assert run(weighted, events)[0]["river"] == [None, "x", "x", "x", "x"]
    assert run(unweighted, events)[0]["river"] == [None, "x", "x", "y", "y"]


def test_several_text_fields_become_lines_of_one_text():
    model = model_of(river("Counting", pickle=True))
    (batch,) = batches([Event("subject", "x")], 1)
    batch.texts, batch.pieces = ["subject", "body"], np.array([0, 2])
    model.step(batch, model.featurize(batch))
    assert model.external_models["river"]._adapter.model.seen == ["subject\nbody"]


def test_an_external_model_can_not_be_explained():
    """Our learners beside it can be; a mixture with it can't."""
    apart = {"kind": "mixture", "name": "apart", "members": ["naive_bayes"]}
    model = model_of(OURS, river("bayes"), {"kind": "mixture"}, apart)
    run(model, [Event("a b", "x"), Event("b c", "y"), Event("a", "x")])
    assert list(explain(model, "a b").learners) == ["naive_bayes", "apart"]
    for name in ("river", "mixture"):
        with pytest.raises(
            ConfigError, match=f"learner '{name}' can't be explained: it is an external model, mixes one"
        ):
            explain(model, "a b", ["naive_bayes", name])
    with pytest.raises(ConfigError, match="no learner can be explained"):
        explain(model_of(river("bayes")), "a b")


# --- failures


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ("predict", "RuntimeError: no more predictions"),
        ("learn", "ValueError: no more lessons"),
        ("nan", "it predicts nan"),
        ("exit", "SystemExit"),
    ],
)
@pytest.mark.parametrize("size", [1, 4, 100])
def test_a_failing_external_model_is_retired_alone(how, error, size):
    """It fails at the sixth event, when it predicts or when it learns; its earlier predictions count."""
    events = [Event(f"word{i % 3}", "xy"[i % 3 > 0]) for i in range(12)]
    model = model_of(OURS, river("Failing", arguments={"how": how}, show_errors=True), {"kind": "mixture"})
    predicted, notices = run(model, events, size)
    learned = 6 if how == "learn" else 5
    assert None not in predicted["river"][1:learned]
    assert predicted["river"][learned:] == [None] * (12 - learned)
    assert notices == [f"river is retired, it failed at -:40: {error}; it abstains from now on"]
    twin = model_of(OURS)
    assert predicted["naive_bayes"] == run(twin, events)[0]["naive_bayes"]
    assert None not in predicted["mixture"][1:]
    row = report_of(model.prequential, model.labels)["learners"]["river"]
    assert (row["retired"], row["abstained"]) == ({"position": "-:40", "error": error}, 13 - learned)


def test_a_retired_external_model_leads_no_more():
    """It was the best learner; then the best of those that do not abstain leads."""
    events = [Event("a b", "x"), Event("a b", "y")] + [Event("a b", "x")] * 10
    model = model_of({"kind": "perceptron"}, river("Failing", arguments={"after": 8, "how": "predict"}))
    leads = []
    for batch in batches(events, 5):
        predictions = model.step(batch, model.featurize(batch))[1]
        leads += predictions.lead.tolist()
        assert (predictions.predicted[predictions.lead, range(len(batch))] >= 0)[1:].all()
    hits = model.prequential.tally.hit_weights
    assert leads[8:] == [0] * 4
    assert 1 in leads[:8] or hits[0] >= hits[1]
    (batch,) = batches(events[:1], 1)
    now = model.predict(batch, model.featurize(batch))[1]
    assert now.lead.tolist() == [0]
    assert model.probabilities(batch, model.featurize(batch)).sum() == pytest.approx(1.0)


def test_a_leading_external_model_gives_the_probabilities():
    model = model_of({"kind": "perceptron"}, river("Answering", arguments={"answer": {"x": 0.75, "y": 0.25}}))
    run(model, [Event("a", "x"), Event("a", "y"), *[Event("a", "x")] * 3, *[Event("b", "x")] * 3])
    (batch,) = batches([Event("c")], 1)
    shares = model.probabilities(batch, model.featurize(batch))[0]
    assert shares.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("on_error", ["retire", "stop"])
def test_a_failure_to_predict_without_learning_does_not_retire(on_error):
    """It abstains there, which is reported once, and goes on learning."""
    model = model_of(OURS, river("Failing", arguments={"how": "predict"}, on_error=on_error, show_errors=True))
    run(model, [Event("a", "x")] * 5)
    (batch,) = batches([Event("b")] * 2, 2)
    for _ in range(2):
        predictions = model.predict(batch, model.featurize(batch))[1]
        assert predictions.predicted.tolist() == [[0, 0], [-1, -1]]
        assert predictions.lead.tolist() == [0, 0]
    assert model.pop_notices() == [
        "river fails to predict: RuntimeError: no more predictions; it abstains where it fails"
    ]
    assert model.external_models["river"].retired is None
    assert "retired" not in report_of(model.prequential, model.labels)["learners"]["river"]


@pytest.mark.parametrize("how", ["predict", "learn"])
def test_an_exception_is_shown_by_its_type_alone(how):
    """Its text may quote an event."""
    model = model_of(OURS, river("Failing", arguments={"how": how}))
    _, notices = run(model, [Event("a", "x")] * 9)
    shown = {"predict": "RuntimeError", "learn": "ValueError"}[how]
    assert len(notices) == 1
    assert notices[0].endswith(f": {shown}; it abstains from now on")
    assert model.external_models["river"].retired["error"] == shown


@pytest.mark.parametrize("how", ["unknown", "none"])
def test_an_unknown_label_is_an_abstention_and_wrong(how):
    events = [Event("a", "x")] * 7
    model = model_of(river("Failing", arguments={"how": how}))
    predicted, notices = run(model, events)
    assert predicted["river"] == [None, "x", "x", "x", "x", None, "x"]
    assert notices == []
    row = report_of(model.prequential, model.labels)["learners"]["river"]
    assert (row["correct"], row["abstained"]) == (5, 2)


def test_an_external_model_may_stop_the_run():
    model = model_of(OURS, river("Failing", on_error="stop", show_errors=True))
    with pytest.raises(GuestError, match="learner river failed at -:20: RuntimeError: no more predictions") as error:
        run(model, [Event("a", "x")] * 9)
    assert error.value.exit_code == 3


def test_a_river_model_is_retired_by_labels_it_rejects():
    """river's linear models know only the labels True and False; ours are texts."""
    predicted, notices = run(model_of(OURS, river("passive_aggressive")), [Event("a", "x"), Event("b", "y")] * 3)
    assert predicted["river"] == [None] * 6
    assert len(notices) == 1
    assert "river is retired" in notices[0]


# --- checkpoints


@pytest.mark.parametrize("table", [river("bayes"), river("Stateful"), SGD, sklearn(f"{HERE}:Texts", input="text")])
def test_restoring_a_state_continues_as_if_uninterrupted(stream, table):
    learners = OURS, table | {"pickle": True}, {"kind": "mixture"}
    whole, first, second = (model_of(*learners) for _ in range(3))
    expected, notices = run(whole, stream, 50)
    begin, notices_first = run(first, stream[:130], 50)
    second.restore(*kept(first))
    end, notices_second = run(second, stream[130:], 50)
    assert {name: begin[name] + end[name] for name in expected} == expected
    assert len(notices_first) + len(notices_second) == len(notices)
    assert report_of(second.prequential, second.labels) == report_of(whole.prequential, whole.labels)


def test_a_retired_external_model_stays_retired_after_a_restore(stream):
    table = river("Failing", pickle=True)
    first, second = model_of(OURS, table), model_of(OURS, table)
    run(first, stream[:50])
    arrays, rest = kept(first)
    assert not any(name.startswith("learners/river") for name in arrays)
    second.restore(arrays, rest)
    assert run(second, stream[50:])[0]["river"] == [None] * 250
    retired = [report_of(model.prequential, model.labels)["learners"]["river"]["retired"] for model in (first, second)]
    assert retired[0] == retired[1]


def test_a_model_is_pickled_only_if_allowed(stream):
    model = model_of(OURS, river("bayes", name="external_model"))
    run(model, stream[:10])
    with pytest.raises(
        ConfigError, match=r"learners\.external_model\.pickle: .*can be saved only by pickling; pickle = true allows"
    ):
        model.state()
    with pytest.raises(ValueError, match=r"learners\.external_model\.pickle: "):
        model_of(river("bayes", name="external_model"), checkpoint={"path": "state"})
    model_of(river("bayes", name="external_model", pickle=True), checkpoint={"path": "state"})


def test_a_model_that_becomes_unpicklable_is_retired(stream):
    model = model_of(river("Failing", arguments={"how": "unpicklable"}, pickle=True))
    run(model, stream[:50])
    arrays, rest = kept(model)
    assert rest["external_models"]["river"]["retired"]["position"] == "a checkpoint"
    assert "learners/river/pickle" not in arrays
    assert "it failed at a checkpoint: " in model.pop_notices()[0]
    assert report_of(model.prequential, model.labels)["learners"]["river"]["retired"]["position"] == "a checkpoint"


def test_a_model_that_can_not_be_restored_is_reported(stream):
    first = model_of(river("bayes", pickle=True))
    run(first, stream[:20])
    arrays, rest = kept(first)
    second = model_of(river("Counting", pickle=True))
    damaged = arrays | {"learners/river/pickle": arrays["learners/river/pickle"][:-9].copy()}
    with pytest.raises(CheckpointError, match="learner river can't be restored from the checkpoint: "):
        second.restore(damaged, rest)
    number = model_of(river("Counting", pickle=True))
    odd = arrays | {"learners/river/pickle": np.frombuffer(b"\x80\x05K\x05.", np.uint8)}
    with pytest.raises(CheckpointError, match="should return a river classifier, returned 5, of type int"):
        number.restore(odd, rest)


# --- objects that are not external models


@pytest.mark.parametrize(
    ("table", "line"),
    [
        (river("bayes", object="not_there:x"), "not_there can't be imported: ModuleNotFoundError: No module named"),
        (river("nobody"), f"{HERE}:nobody: no 'nobody' in <module '{HERE}'"),
        (river("models.deep"), f"{HERE}:models.deep: no 'models' in"),
        (
            river("number"),
            f"{HERE}:number should return a river classifier, returned 5, of type int, which has",
        ),
        (river("an_array"), f"{HERE}:an_array should be callable, is a numpy.ndarray"),
        (river("leaving"), f"{HERE}:leaving failed: SystemExit: goodbye"),
        (river("bayes", arguments={"beta": 1}), f"{HERE}:bayes failed: TypeError: bayes() got an unexpected keyword"),
        (river("scaler"), "returned a river.preprocessing.scale.StandardScaler"),
        (
            river("", object="river.linear_model:LinearRegression"),
            "returned a river.linear_model.lin_reg.LinearRegression",
        ),
        (sklearn("sklearn.linear_model:LogisticRegression"), "LogisticRegression, which has no partial_fit"),
        (sklearn("sklearn.pipeline:make_pipeline"), "returned a sklearn.pipeline.Pipeline, which has no partial_fit"),
        (
            sklearn("sklearn.linear_model:SGDRegressor"),
            "returned a sklearn.linear_model._stochastic_gradient.SGDRegressor",
        ),
    ],
)
def test_objects_other_than_classifiers_are_refused(table, line):
    with pytest.raises(ConfigError) as error:
        model_of(OURS, table)
    assert str(error.value).startswith(f"learners.{table['kind']}.object: ")
    assert line in str(error.value)
    assert error.value.exit_code == 2


def test_an_unpicklable_model_is_refused_at_the_start():
    model_of(river("unpicklable"))
    with pytest.raises(ConfigError, match=r"learners\.river\.pickle: it can't be pickled: "):
        model_of(river("unpicklable", pickle=True))


def test_a_module_in_the_current_folder_is_found(tmp_path, monkeypatch):
    (tmp_path / "my_external_models_here.py").write_text("from tests.external_models.models import Counting as best\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [entry for entry in __import__("sys").path if entry])
    assert import_object("key", "my_external_models_here:best") is models.Counting


def test_probabilities_equal_those_of_the_external_model():
    """The scores are the logarithms of the probabilities."""
    model = model_of(river("Answering", arguments={"answer": {"x": 0.75, "y": 0.25}}))
    run(model, [Event("a", "x"), Event("a", "y")])
    (batch,) = batches([Event("c")], 1)
    scores = model.scores(batch, model.featurize(batch))
    assert_allclose(np.exp(scores[0, 0]), [0.75, 0.25])
