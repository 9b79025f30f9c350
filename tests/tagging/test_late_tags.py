"""Tags that come later: each sentence is learned at the place of its tags, but counted as predicted when it arrived."""

import json
import sqlite3
from contextlib import closing

import msgspec
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from streamlin.errors import CheckpointError, ConfigError
from streamlin.evaluation.report import report_of
from streamlin.monitoring.dashboard.mistakes import Mistakes
from streamlin.tagging.admission import TagAdmission
from streamlin.tagging.model import TaggingModel
from tests.tagging.late import batch_of, config_of, run, scattered, spanish, without
from tests.tagging.running import ALL, assert_same_model

LATE = {"delayed_labels": {"enabled": True}}


@pytest.fixture(scope="module")
def events(data):
    return spanish(data / "ner-conll2002-es.jsonl.gz", 300)


@pytest.fixture(scope="module")
def stream(events):
    return scattered(events)


def kept(model):
    """The state that a checkpoint would hold: copies of arrays, and the rest as JSON."""
    arrays, rest = model.state()
    return {name: array.copy() for name, array in arrays.items()}, json.dumps(rest)


def restored(config, state):
    model = TaggingModel(config)
    model.restore({name: array.copy() for name, array in state[0].items()}, json.loads(state[1]))
    return model


def spread_out(late):
    """The same as a stream without late tags: each sentence at its place, and again where its tags are.

    Returns the events, and for each of them its index at the time when it was predicted.
    """
    sentences = {event["id"]: event for event in late if "tokens" in event}
    events, predicted, place, early = [], [], {}, {}

    def learn(id_, tags):
        predicted.append(place[id_])
        weight = sentences[id_].get("weight", 1.0) * tags["weight"]
        events.append(sentences[id_] | {"tags": tags["tags"], "weight": weight})

    for event in late:
        if "tokens" in event:
            place[event["id"]] = len(events)
            predicted.append(len(events))
            events.append(event)
            if event["id"] in early:
                learn(event["id"], early[event["id"]])
        elif event["id"] in place:
            learn(event["id"], event)
        else:
            early[event["id"]] = event
    return events, predicted


def baseline_of(events):
    """For each event, what the baseline predicts of its tokens, and whether their words, by hash, were known."""
    model = TaggingModel(config_of("hmm"))
    found, known = [], set()
    for event in events:
        batch = batch_of(model._config, [event])
        features = model.featurize(batch)
        words = (features.words & 0xFFFFF).tolist()
        codes = model.step(batch, features)[1].baselines[0].tolist()
        found.append(([[*model.labels.names, None][code] for code in codes], [word in known for word in words]))
        if event.get("weight", 1.0):
            known |= {word for word, tag in zip(words, event.get("tags") or (), strict=False) if tag}
    return found


def test_sentences_are_learned_late_but_scored_as_predicted(stream):
    """Compared with a run without late tags over the sentences at the places of their tags."""
    ours, plain = TaggingModel(config_of(*ALL, **LATE)), TaggingModel(config_of(*ALL))
    mine = run(ours, stream, 50)
    events, predicted = spread_out(stream)
    other = run(plain, events, 50)
    arrivals = [i for i, at in enumerate(predicted) if i == at]
    assert mine.tags == [[tags[i] for i in arrivals] for tags in other.tags]
    assert_array_equal(mine.confidences, other.confidences[:, arrivals])
    arrays, expected = ours.state()[0], plain.state()[0]
    for name in expected:
        if not name.startswith("evaluation/"):
            assert_array_equal(arrays[name], expected[name], err_msg=name, strict=True)
    report, baseline = report_of(ours.prequential, ours.labels), baseline_of(events)
    hits, tokens, known_tokens, sliced = [0.0] * 5, 0.0, 0.0, set()
    for event, at in zip(events, predicted, strict=True):
        tagged = [(i, tag) for i, tag in enumerate(event.get("tags") or ()) if tag is not None]
        weight = event.get("weight", 1.0)
        tokens += weight * len(tagged)
        known_tokens += weight * sum(baseline[at][1][i] for i, _ in tagged)
        sliced |= {event["part"]} if tagged and weight else set()
        for m, tags in enumerate([*(own[at] for own in other.tags), baseline[at][0]]):
            hits[m] += weight * sum(tags[i] == tag for i, tag in tagged)
    assert report["events"] == len(arrivals) == 300
    rows = report["learners"] | report["baselines"]
    for row, count in zip(rows.values(), hits, strict=True):
        assert row["accuracy"] == pytest.approx(count / tokens)
    assert report["learners"]["crf"]["accuracy"] > 0.85
    assert ours.prequential.sentences.shared[0, :2].tolist() == [tokens, known_tokens]
    assert set(report["slices"]["part"]) == sliced


def test_batches_and_restarts_change_nothing(stream):
    """With bounds, so that sentences and tags fall out."""
    config = config_of(**LATE | {"delayed_labels": {"enabled": True, "max_pending": 12, "max_remembered": 6}})
    models = {size: TaggingModel(config) for size in (1, 7, 500)}
    outcomes = {size: run(model, stream, size) for size, model in models.items()}
    for size in (7, 500):
        assert outcomes[size].lines == outcomes[1].lines
        assert_same_model(models[size], models[1])
    report = models[1].delayed_labels.report()
    assert min(report[name] for name in ("waiting", "labels_waiting", "joined", "early", "fallen_out", "unknown")) > 0
    for cut in (1, 77, 300):
        first = TaggingModel(config)
        run(first, stream, 20, slice(cut))
        second = restored(config, kept(first))
        assert_same_model(second, first)
        run(second, stream, 20, slice(cut, None))
        assert_same_model(second, models[1])
        assert second.delayed_labels.report() == report


def test_the_store_on_disk_equals_that_in_memory(stream, tmp_path):
    """Also after resuming from one of the last two checkpoints, whatever was done after it."""
    bounds = {"enabled": True, "max_pending": 12, "max_pending_characters": 5000}
    disk = {"delayed_labels": bounds | {"store": "disk"}, "checkpoint": {"path": str(tmp_path)}}
    config, expected = config_of(**disk), TaggingModel(config_of(delayed_labels=bounds))
    outcome, states = run(expected, stream, 64), []
    model = TaggingModel(config)
    found = b""
    for cut in (60, 200, 350):
        found += run(model, stream, 64, slice(states[-1][0] if states else 0, cut)).lines
        states.append((cut, kept(model)))
    assert outcome.lines.startswith(found)
    run(model, stream, 64, slice(350, 450))
    for cut, state in (states[2], states[1]):
        model.close()
        model = restored(config, state)
        assert outcome.lines.endswith(run(model, stream, 50, slice(cut, None)).lines)
    assert model.delayed_labels.report() == expected.delayed_labels.report()
    arrays, others = model.state()[0], expected.state()[0]
    for name, array in others.items():
        if "waiting/" not in name:
            assert_array_equal(arrays[name], array, err_msg=name, strict=True)
    model.close()


@pytest.mark.parametrize("delay", [1, 20])
def test_a_fixed_delay_equals_tags_by_id(events, delay):
    """And nothing of it depends on batches or restarts."""
    lines = [event for event in events if event["tokens"]]  # an empty sentence has all its tags
    late = []
    for i, event in enumerate(lines):
        late.append(without(event, "tags"))
        if i >= delay and any(lines[i - delay]["tags"]):
            late.append({"id": lines[i - delay]["id"], "tags": lines[i - delay]["tags"]})
    measured = {"window": 30, "drift": "none"}  # whose alarms would name places in the stream
    config = config_of(evaluation=measured, delayed_labels={"delay": delay})
    delayed, by_id = TaggingModel(config), TaggingModel(config_of(evaluation=measured, **LATE))
    mine, other = run(delayed, lines, 64), run(by_id, late, 50)
    assert mine.tags == other.tags
    assert report_of(delayed.prequential, delayed.labels) == report_of(by_id.prequential, by_id.labels)
    assert delayed.delayed_labels.report()["joined"] == by_id.delayed_labels.report()["joined"] > 200
    cut = TaggingModel(config)
    first = run(cut, lines, 7, slice(44))
    resumed = restored(config, kept(cut))
    assert first.lines + run(resumed, lines, 1, slice(44, None)).lines == mine.lines
    assert_same_model(resumed, delayed)


def sentence(id_, *tokens, tags=None):
    return {"id": id_, "tokens": list(tokens), "pos": ["X"] * len(tokens)} | ({} if tags is None else {"tags": tags})


def tags(id_, *names):
    return {"id": id_, "tags": list(names)}


def counts(lines, **bounds):
    """The counts of sentences and tags, without zeros; equal in one batch and event by event."""
    found = []
    for size in (1, 100):
        model = TaggingModel(config_of("hmm", evaluation={}, delayed_labels={"enabled": True, **bounds}))
        run(model, lines, size)
        found.append((model.delayed_labels.report(), model.pop_notices(), model.prequential.labelled))
    assert found[0] == found[1]
    return {name: count for name, count in found[0][0].items() if count and not name.startswith("delay")}


def test_what_becomes_of_tags_is_counted_as_of_labels():
    two = sentence("1", "a", "b")
    assert counts([two, tags("1", "A", None), tags("1", "A", None), tags("1", "A", "B")]) == {
        "joined": 1,
        "repeated": 1,
        "contradicted": 1,
    }
    assert counts([tags("1", "A", "B"), tags("9", "A"), two]) == {"labels_waiting": 1, "early": 1}
    assert counts([tags("1", "A", "B"), two], unknown="drop") == {"waiting": 1, "unknown": 1}
    assert counts([two, sentence("1", "c"), tags("1", "A"), sentence(None, "d")]) == {
        "replaced": 1,
        "joined": 1,
        "without_id": 1,
    }
    many = [sentence(str(i), "a", "b") for i in range(5)]
    assert counts([*many, tags("4", "A", "B")], max_pending=2) == {"waiting": 1, "joined": 1, "fallen_out": 3}
    assert counts(many, max_pending_characters=40) == {"waiting": 2, "fallen_out": 3}


def test_a_sentence_with_some_of_its_tags_does_not_wait():
    """And neither does one without tokens."""
    lines = [sentence("1", "a", "b", tags=["A", None]), tags("1", "A", "B"), sentence("2", "a", tags=[None])]
    assert counts([*lines, sentence("3")]) == {"waiting": 1, "contradicted": 1}
    assert counts([sentence("3"), tags("3"), tags("3", "A")]) == {"repeated": 1, "contradicted": 1}


def test_tags_of_another_length_are_left_out_and_the_sentence_waits_on():
    """Those that come before their sentence, too; each of the first five is a line."""
    three = sentence("1", "a", "b", "c")
    assert counts([three, tags("1", "A"), tags("1", "A", "B", "C", "D"), tags("1")]) == {
        "waiting": 1,
        "wrong_length": 3,
    }
    assert counts([tags("1", "A"), three, tags("1", "A", "B", "C")]) == {"wrong_length": 1, "joined": 1}
    model = TaggingModel(config_of("hmm", evaluation={}, **LATE))
    run(model, [tags("2", "A"), sentence("2", "a", "b")], 2)
    assert model.pop_notices() == ["left out at -:27: id '2', early tags: 1 for 2 tokens, expected as many"]
    model = TaggingModel(config_of("hmm", evaluation={}, **LATE))
    run(model, [three, *[tags("1", "A")] * 7], 3)
    lines = model.pop_notices()
    assert lines[0] == "left out at -:63: id '1', late tags: 1 for 3 tokens, expected as many"
    assert lines[4].endswith("; further ones are counted as wrong_length")
    assert len(lines) == 5
    assert not model.pop_notices()
    assert model.prequential.labelled == 0


def test_unknown_tags_among_late_ones_are_not_learned(events):
    """They do not count either."""
    model = TaggingModel(config_of("hmm", "crf", **LATE))
    run(model, [sentence("1", "a", "b", "a"), tags("1", "A", None, "B")], 1)
    assert model.labels.names == ["A", "B"]
    assert model.prequential.sentences.count.tolist() == [1, 2]
    assert model.learners["hmm"].tag_counts[:2].tolist() == [1.0, 1.0]


def test_late_tags_learn_the_columns_that_their_sentence_had(stream):
    """Predictions depend on them."""
    model = TaggingModel(config_of(**LATE))
    run(model, stream, 50)
    other = TaggingModel(config_of(**LATE))
    run(other, [event | ({"pos": ["X"] * len(event["pos"])} if "pos" in event else {}) for event in stream], 50)
    probe = [event for event in stream if "tokens" in event][-50:]
    assert run(model, probe, 50).tags != run(other, probe, 50).tags


def test_latest_mistakes_show_late_sentences_as_predicted():
    """In one batch and over several; with the confidence of that time."""
    lines = [sentence("0", "a", "b", tags=["A", "B"]), sentence("1", "a", "c"), sentence("2", "b"), tags("1", "A", "C")]
    listed = []
    for size in (1, 4):
        model, mistakes = TaggingModel(config_of("crf", evaluation={}, **LATE)), Mistakes(hide_text=False)
        whole = batch_of(model._config, lines)
        for begin in range(0, 4, size):
            batch = whole[begin : begin + size]
            model.step(batch, model.featurize(batch))
            mistakes.learned(model.learned)
        listed.append(mistakes.listed(model.labels.names))
    assert listed[0] == listed[1]
    late, _ = listed[0]
    assert (late["event"], late["text"], late["label"], late["predicted"]) == ("1", "a [c]", "C", "B")
    first = TaggingModel(config_of("crf", evaluation={}, **LATE))
    assert late["confidence"] == round(float(run(first, lines[:2], 2).confidences[0, 1]), 3)


def test_late_tags_count_in_the_limits_when_they_are_learned():
    """Those of the wrong length, and those that wait for a sentence, do not."""
    config = config_of("hmm", evaluation={}, delayed_labels={"enabled": True}, pipeline={"max_labels": 2})
    model = TaggingModel(config)
    lines = [sentence("1", "a", "b"), sentence("2", "c"), tags("1", "X", "Y", "Z"), tags("8", "Q"), tags("1", "A", "B")]
    run(model, lines, 5)
    admission = TagAdmission(model, config)
    for line, full in ((tags("2", "C"), True), (tags("2", "A"), False), (tags("2", "C", "D"), False)):
        event = batch_of(config, [line])
        if full:
            assert not admission.fits(event, model.featurize(event))
            with pytest.raises(ConfigError, match="more than 2 tags, 'C' at"):
                admission.check(event, model.featurize(event))
        else:
            admission.check(event, model.featurize(event))
    early = batch_of(config, [sentence("8", "x")])
    assert not admission.fits(early, model.featurize(early))
    with pytest.raises(ConfigError, match="'Q' at"):
        admission.check(early, model.featurize(early))
    admission.check(
        batch_of(config, [sentence("8", "x", "y")]), model.featurize(batch_of(config, [sentence("8", "x")]))
    )
    bounded = TagAdmission(
        model, config.model_copy(update={"pipeline": config.pipeline.model_copy(update={"max_table_bytes": 1})})
    )
    event = batch_of(config, [tags("2", "A")])
    assert not bounded.fits(event, model.featurize(event))
    with pytest.raises(ConfigError, match="max_table_bytes"):
        bounded.check(event, model.featurize(event))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("delayed_labels/waiting/predicted", lambda a: np.full_like(a, 2)),
        ("delayed_labels/waiting/predicted", lambda a: a[:-1].copy()),
        ("delayed_labels/waiting/pieces", lambda a: a + np.array([1, -1])),
        ("delayed_labels/waiting/texts", lambda a: np.where(a == ord("]"), ord("["), a)),
        ("delayed_labels/waiting/texts", lambda a: np.where(a == ord(","), ord(" "), a)),
        ("delayed_labels/early/labels", lambda a: np.full_like(a, ord("7"))),
    ],
)
def test_forged_sentences_that_wait_are_refused(name, change):
    """A tag that is not known, a missing one, another number of columns, tokens or tags that are no list."""
    model = TaggingModel(config_of("hmm", evaluation={}, **LATE))
    lines = [sentence("0", "a", tags=["A"]), sentence("1", "a", "b"), sentence("2", "c", "d"), tags("9", "A")]
    run(model, lines, 4)
    arrays, rest = kept(model)
    arrays[name] = change(arrays[name])
    with pytest.raises(CheckpointError):
        run(restored(model._config, (arrays, rest)), [tags("1", "A", "A"), sentence("9", "x")], 1)


@pytest.mark.parametrize(
    "change", [{7: b""}, {7: np.full(6, 7, np.int32).tobytes()}, {6: bytes(20)}, {0: ["[]"]}, {0: ["a", "X"]}]
)
def test_forged_sentences_that_wait_on_disk_are_refused(tmp_path, change):
    """Codes of another number, tags that are not known, another number of tokens and columns."""
    disk = {"delayed_labels": {"enabled": True, "store": "disk"}, "checkpoint": {"path": str(tmp_path)}}
    model = TaggingModel(config_of("hmm", evaluation={}, **disk))
    run(model, [sentence("0", "a", tags=["A"]), sentence("1", "a", "b")], 2)
    state = kept(model)
    model.close()
    with closing(sqlite3.connect(tmp_path / "waiting.sqlite3")) as database, database:
        ((blob,),) = database.execute("SELECT kept FROM waiting").fetchall()
        row = msgspec.msgpack.decode(blob)
        for place, value in change.items():
            row[place] = value
        database.execute("UPDATE waiting SET kept = ?", (msgspec.msgpack.encode(row),))
    resumed = restored(model._config, state)
    with closing(resumed), pytest.raises(CheckpointError):
        run(resumed, [tags("1", "A", "A")], 1)


def test_tags_held_back_must_be_as_many_as_their_tokens():
    """In a checkpoint; otherwise tags of one sentence would be taken for those of the next."""
    config = config_of("hmm", evaluation={}, delayed_labels={"delay": 2})
    model = TaggingModel(config)
    run(model, [sentence("1", "a", tags=["A"]), sentence("2", "b", tags=["B"])], 2)
    arrays, rest = kept(model)
    label = b'["A","A"]["B"]'
    assert arrays["delayed_labels/labels"].tobytes() == b'["A"]["B"]'
    arrays["delayed_labels/labels"] = np.frombuffer(label, np.uint8)
    arrays["delayed_labels/labels_lengths"] = np.array([9, 5])
    with pytest.raises(CheckpointError, match="do not fit"):
        restored(config, (arrays, rest))
