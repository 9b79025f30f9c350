"""Texts without a label in a pipeline: learned once, by the learners that can, and never while a label may come."""

import json
from collections import OrderedDict
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamlin.config import RunConfig
from streamlin.events import Event
from streamlin.explanation.explain import explain
from streamlin.features import View
from streamlin.learners import NaiveBayes
from streamlin.model import Model
from tests.command_line import command_line, refused
from tests.delayed_labels.test_by_id import run as run_late
from tests.delayed_labels.test_by_id import scattered
from tests.integration.streams import assert_same_state as assert_same_files
from tests.integration.streams import content
from tests.sample_streams import batch_of, read_events, thinned
from tests.test_model import assert_same_predictions, assert_same_state, kept, restored, run

SOFT = {"kind": "naive_bayes", "name": "soft", "smoothing": "prior", "alpha": 3.0, "unlabelled": [0.3, 1.0]}
OTHERS = [{"kind": "naive_bayes"}, {"kind": "logistic_regression"}]
LATE = {"enabled": True, "max_pending": 60}


def config_of(*learners, **tables):
    return RunConfig(learners=list(learners), **{"features": {"bits": 16, "names": 3000}} | tables)


@pytest.fixture(scope="module")
def stream(data):
    """A real stream, with two of three labels hidden."""
    random = np.random.default_rng(1)
    events = thinned(read_events(data / "sms-spam.jsonl.gz", 1500))
    return [replace(event, label=event.label if random.random() < 0.3 else None) for event in events]


def alone(events):
    """A learner without a pipeline that has learned these events; None among them stands for one not learned."""
    learner = NaiveBayes(3.0, "prior", unlabelled=[0.3, 1.0], features=View(bits=16))
    learner.learn_many([e.text for e in events], [e.label for e in events], [e.weight for e in events])
    return learner


def assert_same_tables(model, learner):
    index = model.rows[model.views_of["soft"][0]]
    assert index.buckets.tolist() == learner._rows.buckets.tolist()
    ours = model.learners["soft"].state(len(index), len(model.labels))
    theirs = learner.state(learner.n_rows, len(learner.labels))
    assert ours.keys() == theirs.keys()
    for name, table in ours.items():
        assert_array_equal(table, theirs[name], err_msg=name)


def test_in_a_pipeline_it_learns_as_alone(stream):
    model = Model(config_of(SOFT))
    run(model, stream, 100)
    assert_same_tables(model, alone(stream))
    assert model.learners["soft"].answers > 0
    assert "words" not in model.rows


def test_it_changes_no_other_learner(stream):
    with_it, without = Model(config_of(*OTHERS, SOFT)), Model(config_of(*OTHERS))
    predicted, expected = run(with_it, stream, 100)[0], run(without, stream, 100)[0]
    assert_array_equal(predicted[:2], expected)
    arrays = with_it.state()[0]
    for name, array in without.state()[0].items():
        if name.startswith(("rows/", "learners/", "names/", "evaluation/inputs/totals")):
            assert_array_equal(arrays[name].reshape(-1)[: array.size], array.reshape(-1), err_msg=name)


@pytest.mark.parametrize("late", [{}, LATE, {"delay": 50}], ids=["at once", "by id", "delay"])
def test_batches_and_restarts_change_nothing(stream, late):
    config = config_of(OTHERS[0], SOFT, delayed_labels=late)
    events = scattered(stream) if late == LATE else stream
    models = {size: Model(config) for size in (1, 7, 1000)}
    predictions = {size: run_late(model, events, size) for size, model in models.items()}
    for size in (7, 1000):
        assert_same_predictions(predictions[size], predictions[1])
        assert_same_state(kept(models[size]), kept(models[1]))
    for cut in (1, 500, 1200):
        first = Model(config)
        run_late(first, events, 100, slice(cut))
        second = restored(config, kept(first))
        run_late(second, events, 100, slice(cut, None))
        assert_same_state(kept(second), kept(models[1]))


def settled(late, most):
    """What is learned of texts of which at most so many wait for labels: each once, in the order of their ends."""
    waiting, early, found = OrderedDict(), {}, []
    for event in late:
        if event.text is None:
            if event.id in waiting:
                text = waiting.pop(event.id)
                found.append(replace(text, label=event.label, weight=text.weight * event.weight))
            else:
                early.setdefault(event.id, event)
        elif event.id is None or event.label is not None:
            found.append(event)
        elif event.id in early:
            label = early.pop(event.id)
            found.append(replace(event, label=label.label, weight=event.weight * label.weight))
        else:
            if event.id in waiting:
                found.append(waiting.pop(event.id))
            waiting[event.id] = event
        while len(waiting) > most:
            found.append(waiting.popitem(last=False)[1])
    return found


@pytest.mark.parametrize("store", ["memory", "disk"])
def test_a_text_that_waits_is_learned_once_it_leaves(stream, tmp_path, store):
    """With its label, or without one: if it falls out, is replaced by another text with its id, or has no id."""
    late = scattered(stream)
    odd = [Event("a text without an id", None), Event("first text", None, "twice"), Event("second", None, "twice")]
    late[100:100] = odd
    tables = {"delayed_labels": LATE | {"store": store}, "checkpoint": {"path": str(tmp_path)}}
    model = Model(config_of(SOFT, **tables))
    run_late(model, late, 64)
    counts = model.delayed_labels.report()
    assert min(counts[name] for name in ("joined", "fallen_out", "without_id", "replaced")) > 0
    assert_same_tables(model, alone(settled(late, LATE["max_pending"])))
    model.close()


def test_a_text_that_still_waits_teaches_nothing():
    model = Model(config_of(SOFT, delayed_labels={"enabled": True}))
    run_late(model, [Event("a", "x", "1"), Event("b", "y", "2"), *(Event("a c", None, f"{i}") for i in range(3, 9))], 4)
    assert not model.learners["soft"].soft_events_1.any()


def test_with_a_fixed_delay_a_text_waits_as_long_as_labels(stream):
    model = Model(config_of(SOFT, delayed_labels={"delay": 50}))
    run(model, stream, 64)
    assert_same_tables(model, alone(stream[:-50]))
    assert model.delayed_labels.report()["waiting"] == 50


def test_predicting_learns_nothing(stream):
    model = Model(config_of(SOFT))
    run(model, stream[:500], 100)
    before, batch = kept(model), batch_of(stream[500:])
    model.predict(batch, model.featurize(batch))
    assert_same_state(kept(model), before)


def test_an_explanation_is_the_sum_of_the_answering_model(stream):
    model = Model(config_of(SOFT, OTHERS[0], {"kind": "mixture"}))
    run(model, stream, 100)
    assert model.learners["soft"].answers > 0
    explanation = explain(model, "call now to win a free prize")
    for name in ("soft", "mixture"):
        reasons = explanation.learners[name]
        assert_allclose(reasons.base + reasons.added.sum(axis=0), reasons.scores, rtol=1e-9, atol=1e-9)
    features = [reason.feature for reason in explanation.learners["soft"].heaviest(3)[0]]
    assert all(feature.view == "words+unlabelled" for feature in features)


@pytest.mark.parametrize("size", [1, 300])
def test_texts_without_a_label_count_for_the_limit_of_tables(tmp_path, size):
    lines = ['{"text": "a", "label": "x"}', '{"text": "b", "label": "y"}', *(f'{{"text": "w{i}"}}' for i in range(500))]
    (tmp_path / "stream.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "soft.toml").write_text(TOML, encoding="utf-8")
    line = refused(
        *("run", "stream.jsonl", "--config", "soft.toml", "--set", f"pipeline.batch_size={size}"),
        *("--set", "pipeline.max_table_bytes=10000"),
        cwd=tmp_path,
    )
    assert "pipeline.max_table_bytes: at stream.jsonl:206" in line or "more than 10,000 bytes" in line
    assert "207 features of view words+unlabelled" in line or "features of view words+unlabelled" in line


TOML = """
[[learners]]
kind = "naive_bayes"
smoothing = "prior"
alpha = 3.0
unlabelled = [0.3, 1.0]
"""


def test_a_run_resumes_and_its_checkpoint_is_checked(data, tmp_path):
    (tmp_path / "soft.toml").write_text(TOML, encoding="utf-8")
    random = np.random.default_rng(2)
    events = read_events(data / "sms-spam.jsonl.gz", 600)
    rows = [{"id": e.id, "text": e.text} | ({"label": e.label} if random.random() < 0.3 else {}) for e in events]
    (tmp_path / "stream.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    common = ("run", "stream.jsonl", "--config", "soft.toml")
    command_line(*common, "--checkpoint", "whole", "--predictions", "whole.jsonl", cwd=tmp_path)
    for more in (("--limit", "250"), ()):
        command_line(*common, "--checkpoint", "parts", "--predictions", "parts.jsonl", *more, cwd=tmp_path)
    assert content(tmp_path / "parts.jsonl") == content(tmp_path / "whole.jsonl")
    assert_same_files(tmp_path / "parts", tmp_path / "whole")
    shown = command_line("inspect", "whole", "--json", cwd=tmp_path).out
    assert json.loads(shown)["rows"].keys() == {"words+unlabelled"}


WORDS = """
[priors]
obj = { finds = 1, returns = 1, decides = 1, discovers = 1, wife = 1, daughter = 1, town = 1, murder = 1, young = 1 }
subj = { film = 1, movie = 1, story = 1, funny = 1, performances = 1, comedy = 1, audience = 1, entertaining = 1 }

[[learners]]
kind = "naive_bayes"
name = "words_alone"
smoothing = "prior"
alpha = 3.0
"""


def test_without_any_label_texts_spread_words_set_by_hand(data, tmp_path):
    """Nothing is scored, so it is called unverified, but by the hidden labels much more is right."""
    (tmp_path / "words.toml").write_text(WORDS + TOML, encoding="utf-8")
    events = read_events(data / "subjectivity.jsonl.gz", 4000)
    texts = "".join(json.dumps({"text": event.text}) + "\n" for event in events)
    (tmp_path / "texts.jsonl").write_text(texts, encoding="utf-8")
    outputs = ("--predictions", "out.jsonl", "--report", "report.json", "--checkpoint", "state")
    told = command_line("run", "texts.jsonl", "--config", "words.toml", *outputs, cwd=tmp_path)
    assert "unverified: no label has been learned yet" in told.out
    assert json.loads((tmp_path / "report.json").read_text())["unverified"] is True
    assert "unverified" in command_line("predict", "state", "texts.jsonl", cwd=tmp_path).err
    lines = [json.loads(line)["learners"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    right = {
        name: np.mean([line[name] == event.label for line, event in zip(lines, events, strict=True)])
        for name in ("words_alone", "naive_bayes")
    }
    assert right["naive_bayes"] > right["words_alone"] + 0.1


def test_a_word_that_is_no_ngram_names_the_view_as_configured(tmp_path):
    (tmp_path / "words.toml").write_text('priors.a = { "one two three" = 1 }\n' + TOML, encoding="utf-8")
    (tmp_path / "in.jsonl").write_text('{"text": "a"}\n', encoding="utf-8")
    line = refused("run", "in.jsonl", "--config", "words.toml", cwd=tmp_path)
    assert line.endswith("name a shorter part of it, or set features.words.ngrams")


def test_a_view_can_not_have_the_reserved_name():
    with pytest.raises(ValueError, match=r"the name of a view can't end in '\+unlabelled'"):
        RunConfig(features={"a+unlabelled": {}})


def test_a_mixture_and_calibration_take_it_as_any_member(stream):
    model = Model(config_of(OTHERS[1], SOFT, {"kind": "mixture"}))
    predicted = run(model, stream, 100)[0]
    assert (predicted[2] >= 0).mean() > 0.99
