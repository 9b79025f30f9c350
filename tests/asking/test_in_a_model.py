"""Asking inside a model: batches, restarts and stores change nothing, and metrics weigh each label by 1/probability."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamlin.asking.decisions import AT_RANDOM, FIRST, UNCERTAIN
from streamlin.evaluation.report import report_of
from streamlin.events import Event
from streamlin.model import Model
from tests.delayed_labels.test_by_id import batch
from tests.sample_streams import read_events, thinned
from tests.test_model import assert_same_state, config_of, kept, restored

SLICED = ("fine",)
BOUNDS = {"enabled": True, "max_pending": 300}


def config(budget=0.2, **tables):
    return config_of(SLICED, **{"delayed_labels": BOUNDS, "ask": {"budget": budget}} | tables)


def stepped(model, events):
    """The predictions of a batch."""
    rows = batch(events)
    return model.step(rows, model.featurize(rows))[1]


def answered(events, settings, seed=3):
    """The stream of texts with the answers to all that is asked, at once or up to 200 texts later.

    Some texts come with their labels, some labels come before their texts or without being asked, some ids twice.
    """
    model, random, made, later = Model(settings), np.random.default_rng(seed), [], {}
    for place, event in enumerate(events):
        for answer in later.pop(place, ()):
            made.append(answer)
            stepped(model, [answer])
        kind = random.random()
        if kind < 0.05 and event.label is not None:
            made.append(Event(None, event.label, event.id, extra=event.extra))
            stepped(model, made[-1:])
        shown = event if kind > 0.9 else replace(event, label=None)
        if 0.5 < kind < 0.51 and place:
            shown = replace(shown, id=events[place - 1].id)
        made.append(shown)
        asked = stepped(model, [shown]).asked
        wanted = asked.reasons[0] > 0 or kind > 0.88
        if wanted and event.label is not None and kind < 0.9 and random.random() < 0.9:
            answer = Event(None, event.label, shown.id, extra=event.extra)
            if random.random() < 0.5:
                made.append(answer)
                stepped(model, [answer])
            else:
                later.setdefault(place + 1 + int(random.integers(200)), []).append(answer)
    return made


@pytest.fixture(scope="module")
def stream(data):
    return answered(thinned(read_events(data / "trec-6.jsonl.gz", 1500, SLICED)), config())


def run(model, events, size):
    """What was predicted and asked, column by column."""
    found = [stepped(model, events[begin : begin + size]) for begin in range(0, len(events), size)]
    columns = zip(*(one[:4] for one in found), strict=True)
    asked = zip(*(one.asked for one in found), strict=True)
    return [np.concatenate(column, axis=-1) for column in (*columns, *asked)]


def test_batches_and_restarts_change_nothing(stream):
    models = {size: Model(config()) for size in (1, 7, 500)}
    found = {size: run(model, stream, size) for size, model in models.items()}
    assert {*found[1][4].tolist()} == {0, FIRST, UNCERTAIN, AT_RANDOM}
    for size in (7, 500):
        for mine, other in zip(found[size], found[1], strict=True):
            assert_array_equal(mine, other, strict=True)
        assert_same_state(kept(models[size]), kept(models[1]))
    report = models[1].delayed_labels.report()
    assert min(report[key] for key in ("wanted", "joined", "early", "replaced", "fallen_out")) > 0
    for cut in (10, 777):
        first = Model(config())
        run(first, stream[:cut], 100)
        second = restored(config(), kept(first))
        assert_same_state(kept(second), kept(first))
        run(second, stream[cut:], 100)
        assert_same_state(kept(second), kept(models[1]))


def test_the_store_on_disk_equals_that_in_memory(stream, tmp_path):
    disk = config(delayed_labels=BOUNDS | {"store": "disk"}, checkpoint={"path": str(tmp_path)})
    ours, theirs = Model(disk), Model(config())
    for mine, other in zip(run(ours, stream, 64), run(theirs, stream, 64), strict=True):
        assert_array_equal(mine, other, strict=True)
    assert wanted(ours) == wanted(theirs) != []
    state = kept(ours)
    ours.close()
    again = restored(disk, state)
    assert wanted(again) == wanted(theirs)
    arrays, others = again.state()[0], theirs.state()[0]
    for name, array in others.items():
        if "/waiting/" not in name:
            assert_array_equal(arrays[name], array, err_msg=name, strict=True)
    again.close()


def wanted(model):
    """What is asked for and not answered."""
    return [(text.id, text.texts, text.asked, *request) for request, text in model.delayed_labels.asked(0)]


def test_what_is_wanted_waits_and_is_asked(stream):
    """The ids whose last text was asked for, and that got no label since, are wanted in their order."""
    model, expected = Model(config(delayed_labels={"enabled": True})), {}
    for event in stream:
        asked = stepped(model, [event]).asked
        expected.pop(event.id, None)
        if event.text is not None and asked.reasons[0]:
            expected[event.id] = float(asked.probabilities[0])
    assert [(text.id, text.asked) for _, text in model.delayed_labels.asked(0)] == list(expected.items())
    requests = [request for request, _ in model.delayed_labels.asked(0)]
    middle = requests[len(requests) // 2]
    assert [request for request, _ in model.delayed_labels.asked(middle.number)] == requests[len(requests) // 2 + 1 :]


def test_each_label_counts_by_one_over_its_probability(stream):
    """Sums of w h / p and w / p over answers and labels that came along; labels that nobody asked for count nowhere."""
    model, texts, sums, raw, answers = Model(config(delayed_labels={"enabled": True})), {}, [0.0, 0.0], [0.0, 0.0], 0
    for event in stream:
        names = list(model.labels.names)
        is_early = event.text is not None and event.id in model.delayed_labels._early
        early = model.delayed_labels._early.get(event.id) if is_early else None
        waits = event.text is None and any(model.delayed_labels.texts_due(batch([event])))
        predictions = stepped(model, [event])
        label, weight, stands_for = event.label, event.weight, 1.0
        if event.text is not None:
            guess = predictions.predicted[0, 0]
            asked = float(predictions.asked.probabilities[0]) if predictions.asked.reasons[0] else 0.0
            texts[event.id] = (names[guess] if guess >= 0 else None, event.weight, asked)
            label = early.label if early is not None and event.label is None else event.label
            if label is None:
                continue
        elif not waits:
            continue
        predicted, weight, asked = texts[event.id]
        if event.text is None:
            stands_for = 1 / asked if asked else 0.0
            answers += asked > 0
        for both, factor in ((sums, stands_for), (raw, 1.0)):
            both[0] += weight * factor * (predicted == label)
            both[1] += weight * factor
    row = report_of(model.prequential, model.labels)["learners"]["naive_bayes"]
    assert_allclose(row["accuracy"], sums[0] / sums[1], rtol=1e-12)
    assert_allclose(row["raw_accuracy"], raw[0] / raw[1], rtol=1e-12)
    assert abs(row["accuracy"] - row["raw_accuracy"]) > 0.03
    report = model.asking.report()
    assert (report["budget"], report["answered"]) == (0.2, answers)
    assert 0.19 * report["events"] < report["asked"] <= np.ceil(0.2 * report["events"]) + 20


def test_the_budget_1_leaves_all_metrics_as_they_are(data):
    """All labels are asked for with probability 1, so each stands for itself."""
    events = thinned(read_events(data / "trec-6.jsonl.gz", 700, SLICED))
    asks = config(1.0, delayed_labels={"enabled": True})
    made = answered(events, asks)
    ours, plain = Model(asks), Model(config_of(SLICED, delayed_labels={"enabled": True}))
    run(ours, made, 100)
    for begin in range(0, len(made), 100):
        stepped(plain, made[begin : begin + 100])
    arrays, expected = ours.state()[0], plain.state()[0]
    for name, array in expected.items():
        assert_array_equal(arrays[name], array, err_msg=name, strict=True)
    more = {name.split("/")[0] for name in arrays.keys() - expected.keys()}
    assert more == {"asking", "evaluation", "delayed_labels"}
    mine, theirs = (report_of(model.prequential, model.labels)["learners"] for model in (ours, plain))
    for name, row in theirs.items():
        for key in ("accuracy", "window_accuracy", "kappa", "fading_macro_f1", "log_loss"):
            assert mine[name][key] == row[key]
        assert mine[name]["raw"]["kappa"] == row["kappa"]
