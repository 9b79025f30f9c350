"""Naive Bayes that learns texts without a label: by hand, beside its twin, and guarded."""

import copy
import pickle
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from streamlin.errors import ConfigError
from streamlin.learners import NaiveBayes
from streamlin.river import NaiveBayes as RiverNaiveBayes
from streamlin.testing import check_learner
from tests.learners.running import REAL_STREAMS, Run, check_against_twin
from tests.naive import NaiveSoftCounts
from tests.sample_streams import Example, read_events, real_examples, streams

CAPS = [0.3, 1.0]
VARIANTS = {
    "plain": {"alpha": 3.0},
    "one cap": {"alpha": 3.0, "unlabelled": [0.5]},
    "half-life": {"alpha": 3.0, "half_life": 50.0},
    "all": {"alpha": 0.3, "half_life": 300.0, "reset": 0.8, "unlabelled": [0.1, 1.0, 3.0]},
}
EVERY_VARIANT = pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS.keys())


def made(**parameters):
    return NaiveBayes(**({"smoothing": "prior", "unlabelled": CAPS} | parameters))


def hide(examples, shown, seed=1):
    """The examples, but each label is shown with this probability only."""
    kept = np.random.default_rng(seed).random(len(examples)) < shown
    return [e if keep else e._replace(label=None) for e, keep in zip(examples, kept.tolist(), strict=True)]


def test_one_text_without_a_label_by_hand():
    """alpha = 1, cap 0.3. {a} is x, {b} is y, once: N_x = N_y = 1, so a factor is 1 + N_kj / (N_k / N) = 1 + 2 N_kj

    {a, c} without a label: x 3, y 1, so q = (3/4, 1/4). U is 0, which is within 0.3 n_k: all of q is added.
    So N_xa = 7/4, N_xc = 3/4, N_x = 5/2, N_ya = N_yc = 1/4, N_y = 3/2, N = 4, U = (3/4, 1/4).
    A second {c} has in that model factors x 1 + 3/4 * 8/5 = 11/5, y 1 + 1/4 * 8/3 = 5/3; q_x = 33 / (33 + 25).
    Now U_x = 3/4 is above 0.3: 0.3 / 0.75 = 0.4 of q_x is added; and U_y = 1/4 is not.
    The model from labels alone answers: it has seen no c.
    """
    learner = NaiveBayes(1.0, "prior", unlabelled=[0.3]).learn_one({"a": 1}, "x").learn_one({"b": 1}, "y")
    learner.learn_one({"a": 1, "c": 1}, None)
    labels = len(learner.labels)
    assert_allclose(learner.counts_1[:3, :labels], [[7 / 4, 1 / 4], [0, 1], [3 / 4, 1 / 4]])
    assert_allclose(learner.soft_events_1[:labels], [3 / 4, 1 / 4])
    assert_allclose(learner.totals_1[:labels], [5 / 2, 3 / 2])
    learner.learn_one({"c": 1}, None)
    q = 33 / 58
    assert_allclose(learner.counts_1[2, :labels], [3 / 4 + 0.4 * q, 1 / 4 + (1 - q)])
    assert_allclose(learner.soft_events_1[:labels], [3 / 4 + 0.4 * q, 1 / 4 + (1 - q)])
    assert learner.answers == 0
    assert_allclose(learner.scores_many([{"c": 1}]), [[log(1 / 2), log(1 / 2)]])


def test_words_set_by_hand_without_any_label_by_hand():
    """alpha = 1. a is held to be x 10 times, b y: N_x = N_y = 10, so a factor is 1 + N_kj / (N_k / N) = 1 + 2 N_kj

    {a, c}: x 21, y 1, so q = (21/22, 1/22). No cap without a labelled event: 0.1 q is added. So N_xc = 2.1/22,
    N_yc = 0.1/22, N_x = 10 + 4.2/22 = 224.2/22, N_y = 220.2/22, N = 444.4/22.
    {c}: x 1 + 2.1/22 * 444.4/224.2, y 1 + 0.1/22 * 444.4/220.2. The model with the cap answers.
    After {b} was labelled y, the cap is 0.3 * (0, 1), and that of labels alone answers, which knows no c: the prior.
    """
    learner = NaiveBayes(1.0, "prior", unlabelled=[0.3]).set_priors({"x": {"a": 1}, "y": {"b": 1}})
    learner.learn_one({"a": 1, "c": 1}, None)
    assert_allclose(learner.counts_1[:3, :2], [[10 + 2.1 / 22, 0.1 / 22], [0, 10], [2.1 / 22, 0.1 / 22]])
    assert_allclose(learner.soft_events_1[:2], [2.1 / 22, 0.1 / 22])
    assert learner.answers == 1
    scores = log(1 / 2) + np.log([1 + 2.1 / 22 * 444.4 / 224.2, 1 + 0.1 / 22 * 444.4 / 220.2])
    assert_allclose(learner.scores_many([{"c": 1}])[0], scores)
    learner.learn_one({"b": 1}, "y")
    assert learner.answers == 0
    assert_allclose(learner.scores_many([{"c": 1}]), [[log(1 / 3), log(2 / 3)]])
    learner.learn_one({"c": 1}, None)
    assert_allclose(learner.soft_events_1[0], 2.1 / 22, err_msg="no labelled event of x, so nothing more is added")


@EVERY_VARIANT
def test_with_words_set_by_hand_scores_are_those_of_the_twin(data, parameters):
    """The first 200 events have no label."""
    examples = real_examples(data / "sms-spam.jsonl.gz", 900)
    hidden = [e._replace(label=None) for e in examples[:200]] + hide(examples[200:], 0.3)
    occurrences = {(next(iter(e.x)), str(e.label)): 10.0 for e in examples[:100] if e.x and e.label}
    parameters = {"unlabelled": CAPS} | parameters
    check_against_twin(made(**parameters), NaiveSoftCounts(**parameters), hidden, 20, occurrences=occurrences)


def test_labels_alone_make_the_prior():
    learner = made()
    learner.learn_many(["a", "b", "b", *["a"] * 50], ["x", "y", "y", *[None] * 50])
    assert_allclose(learner.events[:2], [1, 2])
    assert learner.n == 3


def test_it_needs_smoothing_by_the_prior():
    with pytest.raises(ConfigError, match=r"naive_bayes\.unlabelled needs smoothing = 'prior', got 'uniform'"):
        NaiveBayes(unlabelled=CAPS)


@pytest.mark.parametrize("caps", [[], [0.0], [-1.0, 1.0], [float("inf")], [0.1] * 5])
def test_invalid_caps_are_refused(caps):
    with pytest.raises(ConfigError, match=r"naive_bayes\.unlabelled "):
        made(unlabelled=caps)


@EVERY_VARIANT
@pytest.mark.parametrize(("name", "n"), REAL_STREAMS)
def test_real_streams_give_the_scores_of_the_twin(data, name, n, parameters):
    parameters = {"unlabelled": CAPS} | parameters
    examples = hide(real_examples(data / name, n // 2), 0.3)
    check_against_twin(made(**parameters), NaiveSoftCounts(**parameters), examples, bits=20)


@given(streams(), st.sampled_from([0.3, 3.0]), st.sampled_from([None, 30.0]))
def test_any_stream_gives_the_scores_of_the_twin(stream, alpha, half_life):
    twin = NaiveSoftCounts(CAPS, alpha, half_life=half_life)
    check_against_twin(made(alpha=alpha, half_life=half_life), twin, stream)


def test_the_twins_answer_changes_on_a_real_stream(data):
    """Otherwise the comparison with the twin would not see the races."""
    twin = NaiveSoftCounts(CAPS, 3.0)
    for example in hide(real_examples(data / "sms-spam.jsonl.gz", 3000), 0.3):
        twin.step(*example)
    assert twin.races[0].second_answers


def test_texts_without_a_label_help_on_a_real_stream(data):
    """One label of twenty is shown."""
    events = read_events(data / "subjectivity.jsonl.gz", 10_000)
    random = np.random.default_rng(1)
    texts, labels = [e.text for e in events], [e.label if random.random() < 0.05 else None for e in events]
    found = [learner.learn_many(texts, labels) for learner in (NaiveBayes(3.0, "prior"), made(alpha=3.0))]
    alone, soft = (np.mean([a == e.label for a, e in zip(one, events, strict=True)]) for one in found)
    assert soft > alone + 0.01


def test_labels_without_a_pattern_leave_the_supervised_model_in_place():
    """Words say nothing of the labels, so the models with caps are never clearly better for long."""
    random = np.random.default_rng(3)
    texts = [{f"w{j}": 1 for j in random.integers(50, size=5)} for _ in range(2000)]
    labels = [
        str(label) if shown < 0.2 else None
        for label, shown in zip(random.integers(2, size=2000), random.random(2000), strict=True)
    ]
    plain, guarded = NaiveBayes(3.0, "prior"), made(alpha=3.0)
    found = [learner.learn_many(texts, labels) for learner in (plain, guarded)]
    assert np.mean([a == b for a, b in zip(*found, strict=True)]) > 0.8


@pytest.mark.parametrize("half_life", [None, 5.0])
def test_a_stream_with_all_labels_scores_as_without_the_option(data, half_life):
    examples = [e for e in real_examples(data / "trec-6.jsonl.gz", 1000) if e.label is not None and e.weight]
    plain, soft = Run(NaiveBayes(3.0, "prior", half_life), 20), Run(made(alpha=3.0, half_life=half_life), 20)
    assert_array_equal(soft.step(examples), plain.step(examples))
    assert not soft.learner.counts_1.any(), "the models with caps are not kept before they differ"


def test_nothing_is_learned_before_a_label_is_known():
    learner = made()
    learner.learn_many(["a b", "c"], [None, None])
    assert learner.n_rows == 0
    learner.learn_many(["a", "", "b"], ["x", None, "y"], [1.0, 0.0, 1.0])
    assert not learner.soft_events_1.any()


def test_probabilities_of_overflown_scores_spoil_nothing():
    learner = made()
    learner.learn_many([{"a": 1e30}, {"b": 1e30}, {"a": 3e38}], ["x", "y", None])
    assert np.isfinite(learner.counts_1).all()


def test_it_keeps_the_contract_of_learners():
    check_learner(lambda: made(alpha=3.0))


@EVERY_VARIANT
def test_batches_and_restored_states_change_nothing(data, parameters):
    examples = hide(real_examples(data / "sms-spam.jsonl.gz", 1200), 0.3)
    whole = Run(made(**parameters), 20)
    scores = whole.step(examples)
    for size in (1, 7):
        run = Run(made(**parameters), 20)
        found = [row for begin in range(0, len(examples), size) for row in run.step(examples[begin : begin + size])]
        for ours, row in zip(scores, found, strict=True):
            assert_array_equal(ours[: row.size], row)
        for name, table in whole.state().items():
            assert_array_equal(run.state()[name], table, err_msg=name)
    half = Run(made(**parameters), 20)
    half.step(examples[:600])
    other = Run(made(**parameters), 20)
    other.rows.restore(half.rows.buckets)
    other.labels.learn(half.labels.names)
    other.learner.restore({name: table.copy() for name, table in half.state().items()})
    assert_array_equal(other.step(examples[600:]), scores[600:, : len(other.labels)])


def test_a_label_of_an_event_changes_not_its_own_scores(data):
    examples = hide(real_examples(data / "sms-spam.jsonl.gz", 900), 0.5)
    scores = Run(made(alpha=3.0), 20).step(examples)
    for i in (300, 600, 800):
        for label in (None, "ham", "new"):
            again = Run(made(alpha=3.0), 20).step([*examples[:i], examples[i]._replace(label=label)])[i]
            assert_array_equal(again[:2], scores[i])


def test_one_by_one_equals_in_bulk(data):
    events = hide(real_examples(data / "sms-spam.jsonl.gz", 800), 0.3)
    bulk, single, predicted = made(alpha=3.0), made(alpha=3.0), []
    named = [Example({str(j): value for j, value in e.x.items()}, e.label, e.weight) for e in events]
    for event in named:
        predicted.append(single.predict_one(event.x))
        single.learn_one(event.x, event.label, event.weight)
    assert bulk.learn_many(*map(list, zip(*named, strict=True))) == predicted
    assert bulk.answers == single.answers > 0
    sizes = bulk.n_rows, len(bulk.labels)
    for name, table in bulk.state(*sizes).items():
        assert_array_equal(single.state(*sizes)[name], table, err_msg=name)
    for copied in (copy.deepcopy(bulk), pickle.loads(pickle.dumps(bulk))):
        assert_array_equal(copied.scores_many([{"a": 1}]), bulk.scores_many([{"a": 1}]))
        copied.learn_one({"a": 1}, None)


def test_effective_weights_are_those_of_the_model_that_answers(data):
    run = Run(made(alpha=3.0), 20)
    run.step(hide(real_examples(data / "sms-spam.jsonl.gz", 2000), 0.3))
    assert run.learner.answers > 0
    weights = run.learner.effective_weights(len(run.rows), len(run.labels))
    unread = [Example({}, None, 0.0), *(Example({j: 1.0}, None, 0.0) for j in run.rows.buckets.tolist())]
    nothing, *scores = run.step(unread)
    assert_allclose(np.array(scores) - nothing, weights, rtol=1e-9, atol=1e-9)


def test_rivers_classifier_learns_texts_without_a_label():
    model = RiverNaiveBayes(1.0, "prior", unlabelled=[1.0])
    model.learn_one({"a": 1}, "x")
    model.learn_one({"b": 1}, "y")
    model.learn_one({"a": 1, "c": 1}, None)
    assert model.unlabelled == [1.0]
    assert model._learner.soft_events_1[:2].tolist() == [0.75, 0.25]
