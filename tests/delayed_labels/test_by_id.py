"""Labels by id: each text is learned at the place of its label, but scored as predicted when it arrived."""

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from streamlin.errors import CheckpointError, ConfigError
from streamlin.evaluation.report import report_of
from streamlin.events import Event
from streamlin.model import Model
from tests.sample_streams import batch_of, read_events, thinned
from tests.test_model import assert_same_predictions, assert_same_state, config_of, kept, restored

LATE = {"delayed_labels": {"enabled": True}}
SLICED = ("fine",)
NAMED = {"features": {"bits": 16, "names": 3000}}


def batch(events):
    """Events as columns; those whose text is None are only labels."""
    made = batch_of([replace(event, text=event.text or "") for event in events])
    late = np.array([event.text is None for event in events])
    made.label_only = late if late.any() else None
    made.times = np.array([np.nan if event.time is None else event.time for event in events])
    return made


def run(model, events, size, part=slice(None)):
    """The predictions of all texts, or of a part of the stream, column by column."""
    found, whole = [], batch(events)[part]
    for begin in range(0, len(whole), size):
        rows = whole[begin : begin + size]
        found.append(model.step(rows, model.featurize(rows))[1][:5])
    return [np.concatenate(column, axis=-1) for column in zip(*found, strict=True)]


def scattered(events, seed=1):
    """Each labelled text, and its label some hundred places later; some labels come with the text, some before it."""
    random = np.random.default_rng(seed)
    placed = []
    for place, event in enumerate(events):
        kind, delay = random.random(), int(random.exponential(150)) + 1
        if event.label is None or kind < 0.1:
            placed.append((place, 1, event))
            continue
        placed.append((place, 1, replace(event, label=None)))
        if kind > 0.05:
            back = kind > 0.9
            label = Event(None, event.label, event.id, weight=2.0 if kind > 0.8 else 1.0, extra=event.extra)
            placed.append((place - delay if back else place + delay, 0, label))
    return [event for _, _, event in sorted(placed, key=lambda one: one[:2])]


def spread_out(late):
    """The same as a stream without delayed labels: each text at its place, unlabelled, and again where its label is.

    Returns the events, and for each of them its index at the time when it was predicted.
    """
    texts = {event.id: event for event in late if event.text is not None}
    events, predicted, place, early = [], [], {}, {}
    for event in late:
        if event.text is not None:
            place[event.id] = len(events)
            predicted.append(len(events))
            events.append(event)
            if event.id in early:
                label = early[event.id]
                predicted.append(place[event.id])
                events.append(replace(event, label=label.label, weight=event.weight * label.weight))
        elif event.id in place:
            predicted.append(place[event.id])
            text = texts[event.id]
            events.append(replace(text, label=event.label, weight=text.weight * event.weight))
        else:
            early[event.id] = event
    return events, predicted


@pytest.fixture(scope="module")
def stream(data):
    return scattered(thinned(read_events(data / "trec-6.jsonl.gz", 2000, SLICED)))


def test_texts_are_learned_late_but_scored_as_predicted(stream):
    """Compared with a run without delayed labels over the texts at the places of their labels."""
    ours, plain = Model(config_of(SLICED, **LATE | NAMED)), Model(config_of(SLICED, **NAMED))
    predictions = run(ours, stream, 100)
    events, predicted = spread_out(stream)
    theirs = run(plain, events, 100)
    arrivals = [i for i, at in enumerate(predicted) if i == at]
    for mine, other in zip((predictions[0], predictions[3]), (theirs[0], theirs[3]), strict=True):
        assert_array_equal(mine, other[:, arrivals])
    arrays, expected = ours.state()[0], plain.state()[0]
    learned = [name for name in expected if not name.startswith("evaluation/")]
    assert "names/words/hashes" in learned
    for name in learned:
        assert_array_equal(arrays[name], expected[name], err_msg=name, strict=True)
    counted = [(events[i].label, at) for i, at in enumerate(predicted) if events[i].label and events[i].weight > 0]
    report = report_of(ours.prequential, ours.labels)
    assert report["events"] == len(arrivals)
    rows = report["learners"] | report["baselines"]
    for row, codes in zip(rows.values(), [*theirs[0], *theirs[3]], strict=True):
        assert row["correct"] == sum(codes[at] == plain.labels.code(label) for label, at in counted)
    assert report["learners"]["naive_bayes"]["correct"] > 500
    assert sum(row["events"] for row in report["slices"]["fine"].values()) == len(counted)


def test_batches_and_restarts_change_nothing(stream):
    config = config_of(SLICED, **NAMED, delayed_labels={"enabled": True, "max_pending": 120, "max_remembered": 60})
    models = {size: Model(config) for size in (1, 7, 1000)}
    predictions = {size: run(model, stream, size) for size, model in models.items()}
    for size in (7, 1000):
        assert_same_predictions(predictions[size], predictions[1])
        assert_same_state(kept(models[size]), kept(models[1]))
    report = models[1].delayed_labels.report()
    assert min(report[name] for name in ("waiting", "labels_waiting", "joined", "early", "fallen_out", "unknown")) > 0
    for cut in (1, 777, 1500):
        first = Model(config)
        run(first, stream, 100, slice(cut))
        second = restored(config, kept(first))
        assert_same_state(kept(second), kept(first))
        run(second, stream, 100, slice(cut, None))
        assert_same_state(kept(second), kept(models[1]))
        assert second.delayed_labels.report() == report


def test_the_store_on_disk_equals_that_in_memory(stream, tmp_path):
    """Also after resuming from one of the last two checkpoints, whatever was done after it."""
    bounds = {"enabled": True, "max_pending": 120, "max_pending_characters": 7000}
    disk = {"delayed_labels": bounds | {"store": "disk"}, "checkpoint": {"path": str(tmp_path)}}
    config, expected = config_of(SLICED, **disk), Model(config_of(SLICED, delayed_labels=bounds))
    predictions = run(expected, stream, 64)
    whole = Model(config_of(SLICED, **disk | {"checkpoint": {"path": str(tmp_path / "whole")}}))
    assert_same_predictions(run(whole, stream, 64), predictions)
    whole.close()
    states = []
    model = Model(config)
    for cut in (300, 900, 1500):
        run(model, stream, 64, slice(states[-1][0] if states else 0, cut))
        states.append((cut, kept(model)))
    run(model, stream, 64, slice(1500, 2100))
    for cut, state in (states[2], states[1]):
        model.close()
        model = restored(config, state)
        run(model, stream, 64, slice(cut, 1700))
    model.close()
    cut, state = states[1]
    model = restored(config, state)
    run(model, stream, 50, slice(cut, None))
    assert model.delayed_labels.report() == expected.delayed_labels.report()
    arrays, others = model.state()[0], expected.state()[0]
    for name, array in others.items():
        if "waiting/" not in name:
            assert_array_equal(arrays[name], array, err_msg=name, strict=True)
    model.close()


def test_both_stores_know_which_texts_are_due(tmp_path):
    """Before the batch that holds the label is learned; texts of an earlier batch, with all that is kept of them."""
    disk = {"delayed_labels": {"enabled": True, "store": "disk"}, "checkpoint": {"path": str(tmp_path)}}
    found = []
    for tables in (LATE, disk):
        model = Model(config_of(**tables))
        run(model, [text("1", words="some"), text("2", words="other")], 2)
        due = model.delayed_labels.due(batch([label("2", "a", weight=2.0)]))
        found.append((due.text.texts, due.label, due.weight, due.text.scores.tolist(), due.text.codes.tolist()))
        (waiting,) = model.delayed_labels.texts_due(batch([label("2", "a"), label("3", "a")]))
        assert waiting.texts == ("other",)
        model.close()
    assert found[0] == found[1]
    assert found[0][:3] == (("other",), "a", 2.0)


def test_resuming_with_another_store_is_refused(stream, tmp_path):
    disk = config_of(SLICED, delayed_labels={"enabled": True, "store": "disk"}, checkpoint={"path": str(tmp_path)})
    memory = config_of(SLICED, **LATE)
    for ours, other, named in ((disk, memory, "disk"), (memory, disk, "memory")):
        model = Model(ours)
        run(model, stream[:100], 50)
        state = kept(model)
        model.close()
        with pytest.raises(CheckpointError, match=f"delayed_labels.store={named}"):
            restored(other, state)
    with pytest.raises(ConfigError, match="needs a checkpoint"):
        Model(config_of(delayed_labels={"enabled": True, "store": "disk"}))
    (tmp_path / "waiting.sqlite3").write_bytes(b"no database" * 1000)
    with pytest.raises(CheckpointError, match="is damaged"):
        Model(disk)


def text(id_, label=None, time=None, words="some words"):
    return Event(words, label, id_, time=time)


def label(id_, name, time=None, weight=1.0):
    return Event(None, name, id_, time=time, weight=weight)


def counts(events, **bounds):
    """The counts of texts and labels, without zeros; equal in one batch and event by event."""
    found = []
    for size in (1, 100):
        model = Model(config_of(delayed_labels={"enabled": True, **bounds}))
        run(model, events, size)
        found.append(model.delayed_labels.report())
    assert found[0] == found[1]
    return {name: count for name, count in found[0].items() if count and not name.startswith("delay")}


def test_a_second_label_changes_nothing():
    events = [text("1"), label("1", "a"), label("1", "a"), label("1", "b"), text("2", "a"), label("2", "b")]
    assert counts(events) == {"joined": 1, "repeated": 1, "contradicted": 2}


def test_labels_without_a_text_are_held_or_dropped():
    events = [label("1", "a"), label("1", "b"), text("2"), text("1")]
    assert counts(events) == {"waiting": 1, "early": 1, "contradicted": 1}
    assert counts(events, unknown="drop") == {"waiting": 2, "unknown": 2}
    assert counts([label("1", "a"), text("1", "b")]) == {"unknown": 1}


def test_texts_without_id_and_replaced_texts_are_counted():
    assert counts([text(None), text(None, "a"), text("1"), text("1"), label("1", "a")]) == {
        "without_id": 1,
        "replaced": 1,
        "joined": 1,
    }


def test_bounds_drop_the_oldest():
    texts = [text(str(i)) for i in range(5)]
    assert counts([*texts, label("1", "a"), label("3", "a")], max_pending=2) == {
        "waiting": 1,
        "labels_waiting": 1,
        "joined": 1,
        "fallen_out": 3,
    }
    early = [label(str(i), "a") for i in range(4)]
    assert counts([*early, text("0"), text("3")], max_remembered=2) == {
        "labels_waiting": 1,
        "unknown": 2,
        "early": 1,
        "waiting": 1,
    }
    assert counts([text("1", words="x" * 60), text("2", words="y" * 60)], max_pending_characters=100) == {
        "waiting": 1,
        "fallen_out": 1,
    }
    assert counts([text("1", words="x" * 600)], max_pending_characters=100) == {"fallen_out": 1}


def test_ids_and_fields_count_with_the_texts_that_wait():
    """So do the ids and labels of labels that wait, and of those that are remembered."""
    ids = ["1" * 60, "2" * 60]
    assert counts([text(id_) for id_ in ids], max_pending_characters=100) == {"waiting": 1, "fallen_out": 1}
    assert counts([label(id_, "a") for id_ in ids], max_pending_characters=100) == {"labels_waiting": 1, "unknown": 1}
    known = [event for id_ in ids for event in (text(id_), label(id_, "a"))]
    again = [label(id_, "a") for id_ in ids]
    assert counts([*known, *again], max_pending_characters=1000) == {"joined": 2, "repeated": 2}
    assert counts([*known, *again], max_pending_characters=100) == {"joined": 2, "repeated": 1, "labels_waiting": 1}


def test_age_is_measured_by_the_events_times():
    events = [
        text("1", time=0.0),
        label("9", "a", time=1.0),
        text("2", time=50.0),
        text("3"),
        label("2", "a", time=61.5),
    ]
    assert counts(events, max_pending_age=60.0) == {"waiting": 1, "fallen_out": 1, "unknown": 1, "joined": 1}
    assert counts(events) == {"waiting": 2, "labels_waiting": 1, "joined": 1}


def test_delays_are_reported_in_texts_and_seconds():
    """Quantiles are exact to within a sixteenth."""
    events = [text(str(i), time=float(i)) for i in range(1000)]
    events += [label(str(i), "a", time=2000.0 + 2 * i) for i in range(1000)]
    model = Model(config_of(**LATE))
    run(model, events, 64)
    report = model.delayed_labels.report()
    for name, first, step in (("delay_events", 0, 1), ("delay_seconds", 2000, 1)):
        for quantile, share in (("median", 0.5), ("p95", 0.95)):
            exact = first + step * share * 1000
            assert exact * 15 / 16 <= report[name][quantile] <= exact * 1.01
    assert report["joined"] == 1000


def test_the_state_is_json_able(stream):
    model = Model(config_of(SLICED, **LATE))
    run(model, stream[:200], 50)
    assert json.loads(json.dumps(model.state()[1]))["delayed_labels"]["counts"]["joined"] > 0
