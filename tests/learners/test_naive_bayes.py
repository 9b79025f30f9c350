"""Naive Bayes, by hand and beside its twin."""

from collections import Counter, defaultdict
from math import inf, log, nan, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from streamlin.errors import ConfigError, RecordError
from streamlin.learners import NaiveBayes, best, softmax
from tests.learners.running import POSITIVE, REAL_STREAMS, Run, check_against_twin
from tests.naive import NaiveNaiveBayes
from tests.sample_streams import Example, real_examples, streams


def test_two_events_by_hand():
    """alpha = 1. {a, b} is x, {a, c} twice is y; so V = 3, n_x = 1, n_y = 2, N_x = 2, N_y = 4, n = 3, K = 2.

    Of {a}: P(x) = 2/5, theta_xa = (1 + 1) / (2 + 3) = 2/5, together 4/25
            P(y) = 3/5, theta_ya = (2 + 1) / (4 + 3) = 3/7, together 9/35
    P(x | a) = 4/25 / (4/25 + 9/35) = 28 / (28 + 45)
    """
    learner = NaiveBayes(alpha=1.0).learn_one({"a": 1, "b": 1}, "x").learn_one({"a": 1, "c": 1}, "y", 2.0)
    assert_allclose(learner.scores_many([{"a": 1}]), [[log(4 / 25), log(9 / 35)]], rtol=1e-6)
    assert_allclose(list(learner.predict_proba_one({"a": 1}).values()), [28 / 73, 45 / 73], rtol=1e-6)


def test_an_unseen_feature_adds_nothing():
    """No label has counts of it, so only the other features decide."""
    learner = NaiveBayes().learn_one({"a": 1}, "x").learn_one({"b": 2}, "y")
    assert learner.predict_proba_one({"a": 1, "unseen": 5}) == learner.predict_proba_one({"a": 1})


def test_the_prior_decides_before_any_feature():
    """Two texts without words are x, one is y: P(x) = 3/5; the word is new to both."""
    learner = NaiveBayes()
    assert learner.learn_many(["", "", ""], ["x", "x", "y"]) == [None, "x", "x"]
    assert_allclose(list(learner.predict_proba_one("word").values()), [3 / 5, 2 / 5])


@pytest.mark.parametrize("alpha", [0.0, -0.5, nan, inf])
def test_alpha_must_be_positive_and_finite(alpha):
    with pytest.raises(ConfigError, match=f"naive_bayes.alpha {POSITIVE}, got {alpha}"):
        NaiveBayes(alpha=alpha)


def test_a_negative_value_is_refused_and_not_learned():
    learner = NaiveBayes().learn_one({"a": 1}, "x")
    with pytest.raises(RecordError, match=r"a value is -2\.0, it must be 0 or more"):
        learner.learn_one({"a": 1, "b": -2}, "y")
    assert learner.labels.names == ["x"]
    assert learner.n == 1


@given(streams(), st.sampled_from([0.3, 1.0]))
def test_probabilities_follow_from_the_counts(stream, alpha):
    """prod_j theta_kj^x_j P(k), normalised, with plain dicts of counts."""
    run = Run(NaiveBayes(alpha))
    run.step([*stream, Example({0: 1.0}, "a")])
    events, counts = Counter(), defaultdict(Counter)
    for x, label, weight in [*stream, Example({0: 1.0}, "a")]:
        if label is not None and weight:
            events[label] += weight
            counts[label].update({j: weight * value for j, value in x.items()})
    features = {j for x, label, weight in [*stream, Example({0: 1.0}, "a")] if label is not None and weight for j in x}
    for x, _, _ in stream:
        joint = [
            (events[k] + 1)
            / (events.total() + len(events))
            * prod(
                ((counts[k][j] + alpha) / (counts[k].total() + alpha * len(features))) ** value
                for j, value in x.items()
                if j in features
            )
            for k in run.labels.names
        ]
        ours = softmax(run.step([Example(x, None)]))[0]
        assert_allclose(ours, np.array(joint) / sum(joint), rtol=1e-9)
        assert_allclose(ours.sum(), 1)


def test_smoothing_by_prior_by_hand():
    """alpha = 2. {a, b} is x, {a, c} twice is y: N_x = 2, N_y = 4, N = 6; features are x to a third, y to two thirds.

    Of {a, unseen}: P(x) = 2/5, 1 + 1 / (2/3) = 5/2, together 1;   P(y) = 3/5, 1 + 2 / (4/3) = 5/2, together 3/2
    Of {b}: x 2/5 * 5/2 = 1, y 3/5 * 1;   {b: 2} has the factor twice: x 2/5 * 25/4
    """
    learner = NaiveBayes(2.0, "prior").learn_one({"a": 1, "b": 1}, "x").learn_one({"a": 1, "c": 1}, "y", 2.0)
    scores = learner.scores_many([{"a": 1, "unseen": 1}, {"b": 1}, {"b": 2}])
    assert_allclose(scores, np.log([[1, 3 / 2], [1, 3 / 5], [5 / 2, 3 / 5]]), atol=1e-12)


@given(streams(), st.sampled_from([0.3, 3.0]))
def test_smoothing_by_prior_is_an_m_estimate(stream, alpha):
    """P(k) prod_j (P(k | j) / pi_k)^x_j, normalised; P(k | j) = (N_kj + alpha pi_k) / (N_j + alpha), pi_k = N_k / N."""
    stream = [*stream, Example({0: 1.0}, "a")]
    run, learned = Run(NaiveBayes(alpha, "prior")), [e for e in stream if e.label is not None and e.weight]
    run.step(stream)
    labels = run.labels.names
    counts = np.zeros((64, len(labels)))
    for x, label, weight in learned:
        for j, value in x.items():
            counts[j, labels.index(label)] += weight * value
    shares = counts.sum(axis=0) / counts.sum()
    events = np.array([sum(e.weight for e in learned if e.label == k) for k in labels])
    of_label = np.divide(
        counts + alpha * shares,
        (counts.sum(axis=1, keepdims=True) + alpha) * shares,
        out=np.ones_like(counts),
        where=shares > 0,
    )
    for x in (example.x for example in stream):
        seen = {j: value for j, value in x.items() if counts[j].any()}
        missing = shares == 0  # has no features at all: they say nothing of it, as if N_kj / N_k were 0
        logs = sum((value * np.log(of_label[j]) for j, value in seen.items()), np.zeros(len(labels)))
        logs[missing] = sum(value * np.log(alpha / (counts[j].sum() + alpha)) for j, value in seen.items())
        joint = np.log((events + 1) / (events.sum() + len(labels))) + logs
        assert_allclose(softmax(run.step([Example(x, None)])), softmax(joint[None]), rtol=1e-9, atol=1e-12)


def test_a_half_life_of_one_event_doubles_each_next_count():
    """alpha = 1 is for the next event, which counts 8. {a} is x, y, y: x has 1, y 2 + 4; V = 1, n = 7, K = 2.

    Of {a}: x (1 + 8) / (7 + 16) * (1 + 8) / (1 + 8), y (6 + 8) / (7 + 16) * 1; with one feature theta is 1.
    Of {}, now that {b} is x and counts 8: x (9 + 16) / (15 + 32), y (6 + 16) / (15 + 32).
    """
    learner = NaiveBayes(1.0, half_life=1).learn_one({"a": 1}, "x").learn_one({"a": 1}, "y").learn_one({"a": 1}, "y")
    assert_allclose(learner.scores_many([{"a": 1}]), np.log([[9 / 23, 14 / 23]]))
    assert_allclose(learner.learn_one({"b": 1}, "x").scores_many([{}]), np.log([[25 / 47, 22 / 47]]))


@given(streams(), st.sampled_from(["uniform", "prior"]), st.sampled_from([1.0, 30.0]))
def test_a_half_life_equals_shrinking_counts(stream, smoothing, half_life):
    """The same scores as from counts that are multiplied by 2^(-1 / half_life) after each event learned."""
    run, plain = Run(NaiveBayes(0.5, smoothing, half_life)), Run(NaiveBayes(0.5, smoothing))
    for example in stream:
        assert_allclose(run.step([example]), plain.step([example]), rtol=1e-9, atol=1e-9)
        if example.label is not None and example.weight:
            for name in ("counts", "totals", "events", "n"):
                getattr(plain.learner, name)[...] *= 2 ** (-1 / half_life)


@pytest.mark.parametrize("smoothing", ["uniform", "prior"])
def test_scaling_down_changes_no_score(data, smoothing):
    """With a half-life of 5 events increments exceed 2^64 every 320 events; those of the twin grow to 2^150."""
    examples = real_examples(data / "sms-spam.jsonl.gz", 1000)
    run, twin = Run(NaiveBayes(1.0, smoothing, half_life=5), 20), NaiveNaiveBayes(1.0, smoothing, half_life=5)
    for example in examples:
        ours, theirs = run.step([example])[0], twin.step(*example)
        assert_allclose(ours[: len(theirs)], list(theirs.values()), rtol=1e-9, atol=1e-9)
    assert run.learner.n < 2.0**72 < twin.n


def swapped(examples, at):
    """The examples, with their two labels swapped from one of them on."""
    a, b = sorted({example.label for example in examples} - {None})
    other = {a: b, b: a, None: None}
    return [*examples[:at], *(example._replace(label=other[example.label]) for example in examples[at:])]


@pytest.mark.parametrize("smoothing", ["uniform", "prior"])
def test_a_swap_of_labels_resets_once_a_stationary_stream_never(data, smoothing):
    """With a reset the learner adapts quickly; without, it does not."""
    examples = [e for e in real_examples(data / "sms-spam.jsonl.gz", 4000) if e.label is not None and e.weight]
    assert NaiveBayes(smoothing=smoothing, reset=0.5).growth == 0
    steady, forgetful, faithful = (Run(NaiveBayes(1.0, smoothing, reset=reset), 20) for reset in (0.5, 0.5, None))
    steady.step(examples)
    assert steady.learner.growth == 0
    at = len(examples) // 2
    stream, end = swapped(examples, at), len(examples) - 500
    hits = {}
    for name, run in (("forgetful", forgetful), ("faithful", faithful)):
        predicted = best(run.step(stream))
        labels = np.array([run.labels.code(example.label) for example in stream])
        hits[name] = (predicted == labels)[end:].mean()
    assert forgetful.learner.growth == 10
    assert hits["forgetful"] > 0.9 > hits["faithful"] + 0.2


@pytest.mark.parametrize("reset", [0.0, 1.0, -0.5, nan, inf])
def test_a_reset_must_be_between_0_and_1(reset):
    with pytest.raises(ConfigError, match=f"naive_bayes.reset must be (greater than 0|less than 1), got {reset}"):
        NaiveBayes(reset=reset)


@pytest.mark.parametrize("half_life", [0.0, -1.0, nan, inf])
def test_a_half_life_must_be_positive_and_finite(half_life):
    with pytest.raises(ConfigError, match=f"naive_bayes.half_life {POSITIVE}, got {half_life}"):
        NaiveBayes(half_life=half_life)


def test_an_unknown_smoothing_is_refused():
    with pytest.raises(ConfigError, match=r"naive_bayes\.smoothing must be 'uniform' or 'prior', got 'laplace'"):
        NaiveBayes(smoothing="laplace")


@pytest.mark.parametrize("smoothing", ["uniform", "prior"])
@pytest.mark.parametrize("weight", [1e-300, 1e-12, 1.0, 1e12, 1e300])
@pytest.mark.parametrize("alpha", [5e-324, 1e-300, 1e-9, 3.0, 1e300])
def test_no_product_overflows(smoothing, weight, alpha):
    """For long texts and any counts and alphas scores are finite and equal sums of logs."""
    words, run = dict.fromkeys(range(1000), 1.0), Run(NaiveBayes(alpha, smoothing), 10)
    run.step([Example(words, "x", weight), Example({0: 1.0, 1000: 2.0}, "y", weight)])
    scores = run.step([Example(x, None) for x in (words | {1000: 0.5}, words, {0: 3.0}, {})])
    assert np.isfinite(scores).all()
    weights = run.learner.effective_weights(1001, 2)
    assert np.isfinite(weights).all()
    assert_allclose(scores[1] - scores[3], weights[:1000].sum(axis=0), rtol=1e-9, atol=1e-6)


VARIANTS = {
    "uniform": {},
    "prior": {"alpha": 3.0, "smoothing": "prior"},
    "half-life": {"half_life": 50.0},
    "all": {"alpha": 3.0, "smoothing": "prior", "half_life": 300.0, "reset": 0.8},
}
EVERY_VARIANT = pytest.mark.parametrize("parameters", VARIANTS.values(), ids=VARIANTS.keys())


@EVERY_VARIANT
def test_batches_and_hidden_labels_leave_other_predictions_unchanged(data, parameters):
    """Batches of 1, 7 and all events; whether an event has a label does not change its own scores."""
    examples = swapped(real_examples(data / "sms-spam.jsonl.gz", 1200), 600)
    whole = Run(NaiveBayes(**parameters), 20)
    scores = whole.step(examples)
    for size in (1, 7):
        run, found = Run(NaiveBayes(**parameters), 20), np.full_like(scores, -inf)
        for begin in range(0, len(examples), size):
            part = run.step(examples[begin : begin + size])
            found[begin : begin + size, : part.shape[1]] = part
        assert_array_equal(found, scores)
        for name, table in whole.state().items():
            assert_array_equal(run.state()[name], table)
    for i in (3, 300, 900):
        hidden = Run(NaiveBayes(**parameters), 20).step([*examples[:i], examples[i]._replace(label=None)])[i]
        assert_array_equal(hidden, scores[i])


@EVERY_VARIANT
def test_effective_weights_are_the_features_contributions_to_scores(data, parameters):
    run = Run(NaiveBayes(**parameters), 20)
    run.step(real_examples(data / "trec-6.jsonl.gz", 300))
    weights = run.learner.effective_weights(len(run.rows), len(run.labels))
    nothing, *scores = run.step([Example({}, None), *(Example({j: 1.0}, None) for j in run.rows.buckets.tolist())])
    assert_allclose(np.array(scores) - nothing, weights, rtol=1e-9, atol=1e-9)


@EVERY_VARIANT
@pytest.mark.parametrize(("name", "n"), REAL_STREAMS)
def test_real_streams_give_the_scores_of_the_twin(data, name, n, parameters):
    check_against_twin(NaiveBayes(**parameters), NaiveNaiveBayes(**parameters), real_examples(data / name, n), bits=20)


@pytest.mark.parametrize("smoothing", ["uniform", "prior"])
def test_a_reset_gives_the_scores_of_the_twin(data, smoothing):
    examples = swapped(real_examples(data / "sms-spam.jsonl.gz", 2000), 1000)
    parameters = {"smoothing": smoothing, "half_life": 500.0, "reset": 0.5}
    twin = NaiveNaiveBayes(**parameters)
    check_against_twin(NaiveBayes(**parameters), twin, examples, bits=20)
    assert twin.resets == 1


@given(
    streams(), st.sampled_from([0.3, 1.0]), st.sampled_from(["uniform", "prior"]), st.sampled_from([None, 1.0, 30.0])
)
def test_any_stream_gives_the_scores_of_the_twin(stream, alpha, smoothing, half_life):
    check_against_twin(NaiveBayes(alpha, smoothing, half_life), NaiveNaiveBayes(alpha, smoothing, half_life), stream)
