"""The limits of labels and of tables, asked before anything is learned."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlin.config import DEFAULT_KINDS, RunConfig, ViewConfig
from streamlin.errors import ConfigError
from streamlin.events import Event
from streamlin.features import View
from streamlin.model import Model
from streamlin.pipeline import Pipeline
from streamlin.running.admission import Admission
from tests.sample_streams import batch_of

EVENTS = [Event("a b", "x"), Event("b c", "y"), Event("c d", "z")]


def limited(events=(), **pipeline):
    """A model that has learned some events, and its limits."""
    config = RunConfig(pipeline=pipeline, features={"bits": 12})
    model = Model(config)
    batch = batch_of(events)
    model.step(batch, model.featurize(batch))
    return model, Admission(model, config)


def fits(limits, model, events):
    batch = batch_of(events)
    return limits.fits(batch, model.featurize(batch))


def test_labels_of_weight_0_do_not_count():
    model, limits = limited(EVENTS[:2], max_labels=2)
    assert fits(limits, model, [*EVENTS[:2], Event("c", "z", weight=0.0)])
    assert not fits(limits, model, EVENTS)


def test_known_labels_pass_a_limit_below_their_number():
    model, limits = limited(EVENTS[:2], max_labels=1)
    assert fits(limits, model, EVENTS[:2])
    assert not fits(limits, model, EVENTS[2:])


def test_the_event_that_is_too_much_is_named():
    model, limits = limited(EVENTS[:2], max_labels=2)
    event = batch_of(EVENTS[2:])
    message = r"found more than 2 labels, 'z' at -:0 is one too many; if fields\.label = 'label' is the label, raise"
    with pytest.raises(ConfigError, match=message):
        limits.check(event, model.featurize(event))
    assert model.labels.names == ["x", "y"]


def test_table_bytes_are_those_of_the_tables_in_a_checkpoint():
    model, limits = limited(EVENTS)
    arrays, _ = model.state()
    size = sum(array.nbytes for name, array in arrays.items() if name.startswith("learners/"))
    assert limits.table_bytes({"words": len(model.rows["words"])}, 3) == size


def test_features_above_the_limit_of_bytes_are_refused():
    """Exactly: as many bytes as the tables need are enough."""
    model, limits = limited(EVENTS)
    size = limits.table_bytes({"words": len(model.rows["words"]) + 1}, 3)
    new = batch_of([Event("new", "x")])
    limits.max_bytes = size
    assert fits(limits, model, [Event("new", "x")])
    limits.check(new, model.featurize(new))
    limits.max_bytes = size - 1
    assert not fits(limits, model, [Event("new", "x")])
    with pytest.raises(ConfigError, match=r"pipeline\.max_table_bytes: at -:0 the learners' tables need more than "):
        limits.check(new, model.featurize(new))
    assert fits(limits, model, [Event("new"), *EVENTS])  # nothing is learned without a label


@pytest.mark.parametrize("min_count", [1, 3])
def test_rows_to_come_are_counted_as_they_are_brought(min_count):
    config = RunConfig(features={"bits": 8, "words": {"min_count": min_count}}, learners=[{"kind": "perceptron"}])
    model, letters = Model(config), np.random.default_rng(5).choice(list("abcdefgh"), (60, 4))
    index = model.rows["words"]
    for words in letters:
        batch = batch_of([Event(" ".join(words), "x")])
        features, before = model.featurize(batch), len(index)
        expected = index.count_new(features["words"].buckets, one_event=True)
        assert expected <= index.count_new(features["words"].buckets)
        model.step(batch, features)
        assert len(index) == before + expected


def test_learn_many_stops_before_the_event_that_is_too_much():
    pipeline = Pipeline(learners=list(DEFAULT_KINDS), pipeline={"max_labels": 2})
    with pytest.raises(ConfigError, match=r"pipeline\.max_labels"):
        pipeline.learn_many(["a", "b", "c", "d"], ["x", "y", "z", "x"])
    assert pipeline.labels == ["x", "y"]
    assert pipeline.metrics["events"] == 2


@settings(deadline=None, max_examples=150)
@given(st.text(st.characters(codec="utf-8") | st.sampled_from("ﷺ İa \u0307"), max_size=30))
def test_a_text_never_has_more_features_than_expected(text):
    for tokens, ngrams, normalize in product(
        ("words", "scikit-learn", "whitespace", "char_wb"), ((1, 1), (1, 3), (2, 5)), (None, "nfkc")
    ):
        view = View(ViewConfig(tokens=tokens, ngrams=ngrams, normalize=normalize), 20)
        assert view.of_texts([text]).buckets.size <= view.most_features(len(text), 1)
