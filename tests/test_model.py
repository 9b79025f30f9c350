"""Test-then-train without peeking, and states that continue identically, on real streams."""

import json
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from streamlin.config import RunConfig
from streamlin.evaluation import Predictions
from streamlin.evaluation.report import report_of
from streamlin.events import Event
from streamlin.model import Model
from tests.sample_streams import batch_of, batches, read_events, thinned

STREAMS = [
    ("sms-spam.jsonl.gz", 3000, ()),
    ("trec-6.jsonl.gz", 2000, ("split", "fine")),
    ("clinc150.jsonl.gz", 1000, ()),
]
EVERY_STREAM = pytest.mark.parametrize(("name", "n", "extra"), STREAMS)


def config_of(extra=(), **tables):
    """All learners on words, in fewer buckets than usual; accuracy over a short window, by `extra`; measures."""
    settings = {"features": {"bits": 16}, "evaluation": {"window": 50, "fading": 0.99, "slice_by": extra}} | tables
    settings["evaluation"] = {"novelty": True} | settings["evaluation"]
    return RunConfig(**settings | {"pipeline": {"novelty": True}, "surprise": {"model": "kneser_ney"}})


@cache
def stream(path, n, extra):
    """A real stream with some labels hidden, some texts emptied and various weights."""
    return thinned(read_events(path, n, extra))


def labelled(*pairs):
    """Events with these texts and labels."""
    return [Event(text, label) for text, label in pairs]


def step(model, batch):
    """Test, then train; the predictions."""
    return model.step(batch, model.featurize(batch))[1]


def run(model, events, size, begin=0, end=None):
    """The predictions of all events, or of a part, column by column."""
    predictions = [step(model, batch)[:5] for batch in batches(events, size, begin, end)]
    return [np.concatenate(column, axis=-1) for column in zip(*predictions, strict=True)]


def kept(model):
    """The state that a checkpoint would hold: copies of arrays, and the rest as JSON."""
    arrays, rest = model.state()
    return {name: array.copy() for name, array in arrays.items()}, json.dumps(rest)


def restored(config, state):
    """A new model with a copy of a state."""
    model = Model(config)
    model.restore({name: array.copy() for name, array in state[0].items()}, json.loads(state[1]))
    return model


def assert_same_state(ours, theirs):
    """Two states are equal in every array and in the rest, bit for bit."""
    assert ours[0].keys() == theirs[0].keys()
    for name, array in ours[0].items():
        assert_array_equal(array, theirs[0][name], err_msg=name, strict=True)
    assert ours[1] == theirs[1]


def assert_same_predictions(ours, theirs):
    """Predictions, leads and confidences, bit for bit; an abstention's confidence is NaN in both."""
    for name, mine, other in zip(Predictions._fields[:5], ours, theirs, strict=True):
        assert_array_equal(mine, other, err_msg=name, strict=True)


@EVERY_STREAM
def test_batch_sizes_do_not_change_predictions_or_state(data, name, n, extra):
    events, config = stream(data / name, n, extra), config_of(extra)
    models = {size: Model(config) for size in (1, 7, 1000)}
    predictions = {size: run(model, events, size) for size, model in models.items()}
    states = {size: kept(model) for size, model in models.items()}
    for size in (7, 1000):
        assert_same_predictions(predictions[size], predictions[1])
        assert_same_state(states[size], states[1])
    reports = [report_of(model.prequential, model.labels) for model in models.values()]
    assert reports[0] == reports[1] == reports[2]
    assert reports[0]["learners"]["naive_bayes"]["correct"] > n / 10
    assert reports[0]["drift"]["last_alarms"]


def bringers(events):
    """The events that bring a label."""
    seen, found = {None}, []
    for i, event in enumerate(events):
        if event.label not in seen and event.weight > 0:
            seen.add(event.label)
            found.append(i)
    return found


@EVERY_STREAM
def test_hiding_a_label_does_not_change_its_events_prediction(data, name, n, extra):
    """For 60 events, the first that bring a label among them: hidden in the midst of a batch, from the same state.

    What came before it in the batch is predicted the same, too.
    """
    events, config = stream(data / name, n, extra), config_of(extra)
    candidates = [i for i, event in enumerate(events) if event.label is not None and event.weight > 0]
    chosen = {*bringers(events)[:20], *np.random.default_rng(1).choice(candidates, 40, replace=False).tolist()}
    model, done = Model(config), 0
    for i in sorted(chosen):
        begin = max(done, i - 3)
        run(model, events[done:begin], 1000)
        done = begin
        state, end = kept(model), min(i + 4, n)
        hidden = [*events[begin:i], replace(events[i], label=None), *events[i + 1 : end]]
        shown, unshown = (run(restored(config, state), part, 1000) for part in (events[begin:end], hidden))
        until = i + 1 - begin
        assert_same_predictions([a[..., :until] for a in unshown], [a[..., :until] for a in shown])


@EVERY_STREAM
def test_a_restored_model_continues_identically(data, name, n, extra):
    events, config = stream(data / name, n, extra), config_of(extra)
    whole = Model(config)
    predictions = run(whole, events, 100)
    cuts = [0, *sorted(np.random.default_rng(2).choice(n, 3, replace=False).tolist()), n]
    state, parts = kept(Model(config)), []
    for begin, end in pairwise(cuts):
        model = restored(config, state)
        parts.append(run(model, events, 64, begin, end))
        state = kept(model)
    assert_same_predictions([np.concatenate(column, axis=-1) for column in zip(*parts, strict=True)], predictions)
    assert_same_state(state, kept(whole))
    model = restored(config, state)
    assert report_of(model.prequential, model.labels) == report_of(whole.prequential, whole.labels)


@EVERY_STREAM
def test_weight_0_only_changes_the_number_of_events(data, name, n, extra):
    """The stream without its events of weight 0 gives the same rows, labels, weights and metrics."""
    events, config = stream(data / name, n, extra), config_of()
    counting = [event for event in events if event.weight > 0]
    with_zeros, without = Model(config), Model(config)
    predictions = run(with_zeros, events, 100)
    expected = run(without, counting, 100)
    counted = np.array([event.weight > 0 for event in events])
    assert not counted.all()
    assert_same_predictions([column[..., counted] for column in predictions], expected)
    ours, theirs = kept(with_zeros), kept(without)
    assert_same_state((ours[0], ""), (theirs[0], ""))
    assert with_zeros.labels.names == without.labels.names
    measures = with_zeros.prequential
    assert measures.events == n
    assert measures.labelled == sum(event.label is not None for event in events)


def test_an_event_of_weight_0_is_predicted():
    model = Model(config_of())
    events = labelled(("a b", "x"), ("c d", "y"), ("a b", "x"))
    run(model, events, 10)
    predicted, _, confidences, *_ = run(model, [replace(events[1], weight=0.0)], 1)
    assert predicted[0, 0] == model.labels.code("y")
    assert 0.5 < confidences[0] < 1


def test_new_labels_of_weight_0_are_not_candidates():
    """A label that only an event of weight 0 has is unknown to all later events."""
    model = Model(config_of())
    events = labelled(("a b", "x"), ("a b", "y"), ("a b", "x"), ("c", "x"))
    predicted, *_ = run(model, [replace(events[0], weight=0.0), *events[1:]], 10)
    assert model.labels.names == ["y", "x"]
    assert (predicted[:, :2] == -1).all()
    assert (predicted[:, 2] == 0).all()


def test_each_learner_reads_its_own_view(data):
    """With words and with characters a learner gives the results of a model of its own."""
    events = stream(data / "sms-spam.jsonl.gz", 3000, ())[:400]
    views = {"bits": 16, "words": {"ngrams": [1, 1]}, "letters": {"tokens": "char_wb", "ngrams": [2, 3]}}
    learners = [
        {"kind": "naive_bayes"},
        {"kind": "naive_bayes", "name": "letters", "features": "letters"},
        {"kind": "perceptron", "features": "letters"},
        {"kind": "logistic_regression"},
    ]
    both = Model(config_of(features=views, learners=learners))
    predicted = run(both, events, 50)[0]
    arrays = kept(both)[0]
    for row, learner in enumerate(learners):
        alone = Model(config_of(features=views, learners=[learner]))
        name, view = learner.get("name", learner["kind"]), learner.get("features", "words")
        assert list(alone.views) == [view]
        assert_array_equal(run(alone, events, 50)[0][0], predicted[row])
        tables = {key: array for key, array in kept(alone)[0].items() if not key.startswith("evaluation/")}
        assert tables.keys() >= {f"rows/{view}"}
        for key, array in tables.items():
            assert_array_equal(arrays[key], array, err_msg=key, strict=True)
        assert len(arrays[f"learners/{name}/{both.learners[name].tables[0]}"]) == len(both.rows[view])
    assert len(both.rows["words"]) != len(both.rows["letters"])


def test_predicting_changes_nothing_and_uses_the_learned_state(data):
    """Predictions, with or without labels, equal those of the next step for its first event."""
    events = stream(data / "trec-6.jsonl.gz", 2000, ("split", "fine"))[:500]
    config = config_of()
    model = Model(config)
    run(model, events[:300], 100)
    state = kept(model)
    batch = batch_of(events[300:320])
    predicted, lead, confidences, *_ = model.predict(batch, model.featurize(batch))[1]
    assert_same_state(kept(model), state)
    assert (lead == model.prequential.leads(predicted)).all()
    for i in range(len(batch)):
        first = step(restored(config, state), batch[i : i + 1])
        assert_array_equal(first.predicted[:, 0], predicted[:, i])
        assert first.lead[0] == lead[i]
        assert first.confidences[0] == confidences[i]


def test_a_fresh_model_abstains():
    model = Model(config_of())
    batch = batch_of(labelled(("a b", None), ("", None)))
    for predicted, _, confidences, *_ in (model.predict(batch, model.featurize(batch))[1], step(model, batch)):
        assert (predicted == -1).all()
        assert np.isnan(confidences).all()


@EVERY_STREAM
def test_feature_names_do_not_depend_on_batches_or_change_predictions(data, name, n, extra):
    """With two views and fewer names than n-grams of the second; also after a restored state."""
    events = stream(data / name, n, extra)[:600]
    views = {"bits": 16, "words": {"min_count": 2}, "letters": {"tokens": "char_wb", "ngrams": [1, 4]}}
    learners = [{"kind": "naive_bayes"}, {"kind": "perceptron", "features": "letters"}]
    unnamed, named = (config_of(extra, features=views | {"names": n}, learners=learners) for n in (0, 2000))
    plain, whole = Model(unnamed), Model(named)
    assert_same_predictions(run(whole, events, 100), run(plain, events, 100))
    ours, theirs = kept(whole), kept(plain)
    names = {key for key in ours[0] if key.startswith("names/")}
    assert names == {f"names/{view}/{part}" for view in ("words", "letters") for part in ("hashes", "ends", "octets")}
    assert ours[0]["names/letters/hashes"].size == 2000
    assert 300 < ours[0]["names/words/hashes"].size < 2000
    assert_same_state(({key: array for key, array in ours[0].items() if key not in names}, ours[1]), theirs)
    for size in (1, 7):
        model = Model(named)
        run(model, events, size, 0, 200)
        model = restored(named, kept(model))
        run(model, events, size, 200)
        assert_same_state(kept(model), ours)


def test_the_number_of_names_is_not_in_the_fingerprint():
    """Names may be kept from any moment on. A view may also be called `names`."""
    assert "names" not in RunConfig(features={"names": 10}).fingerprint()["features"]
    views = RunConfig(features={"names": {"ngrams": [1, 3]}}).fingerprint()["features"]
    assert views["names"]["ngrams"] == [1, 3]


def test_empty_batches_are_accepted(data):
    events = stream(data / "sms-spam.jsonl.gz", 3000, ())[:100]
    plain, gappy = Model(config_of()), Model(config_of())
    run(plain, events, 100)
    for batch in batches(events, 50):
        assert step(gappy, batch[0:0]).predicted.shape == (5, 0)
        step(gappy, batch)
    assert_same_state(kept(gappy), kept(plain))
