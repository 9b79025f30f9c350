"""Parts of shards: what they hold, that they leave nothing behind, and how labels and rows are united."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from streamlin.sharding.mixing import mix
from tests.sample_streams import Example, streams
from tests.sharding.running import learned, model_of, one_round, tables_of

KINDS = ("naive_bayes", "averaged_perceptron", "logistic_regression", "arow", "sgd")
SHARDS = st.lists(streams(), min_size=1, max_size=4)


def model():
    several = {"kind": "hinge", "features": ["words", "others"]}
    return model_of(*({"kind": kind} for kind in KINDS), several, {"kind": "mixture"})


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name, table in one.items():
        assert_array_equal(table, other[name], err_msg=name)


@settings(max_examples=20, deadline=None)
@given(SHARDS, SHARDS)
def test_a_shard_leaves_the_model_as_it_was(first, second):
    ours = model()
    one_round(ours, first)
    before = tables_of(ours)
    for events in second:
        learned(ours, events)
        assert_same(tables_of(ours), before)
        for name, learner in ours.learners.items():
            table = learner.counts if name == "naive_bayes" else learner.weights
            assert not table[ours.n_rows(name) :].any()
            assert not table[:, len(ours.labels) :].any()


@settings(max_examples=20, deadline=None)
@given(SHARDS, SHARDS, st.randoms(use_true_random=False))
def test_shards_may_learn_in_any_order(first, second, random):
    """Parts are mixed in the order of the shards, whoever is done first."""
    ours, theirs = model(), model()
    for shards in (first, second):
        order = list(range(len(shards)))
        random.shuffle(order)
        parts = {shard: learned(theirs, shards[shard])[0] for shard in order}
        mix(theirs, len(theirs.labels), [parts[shard] for shard in range(len(shards))])
        one_round(ours, shards)
    assert_same(tables_of(ours), tables_of(theirs))


@settings(max_examples=20, deadline=None)
@given(SHARDS)
def test_labels_and_rows_are_those_of_the_shards_one_behind_the_other(shards):
    ours = model()
    one_round(ours, shards)
    learned_events = [event for own in shards for event in own if event.label is not None and event.weight > 0]
    assert ours.labels.names == list(dict.fromkeys(event.label for event in learned_events))
    assert ours.rows["words"].buckets.tolist() == list(dict.fromkeys(j for event in learned_events for j in event.x))


@settings(max_examples=20, deadline=None)
@given(SHARDS, streams(labelled=True))
def test_a_shard_knows_no_label_of_another_one_before_the_round_ends(first, second):
    ours = model()
    one_round(ours, first)
    known = set(ours.labels.names)
    scores = one_round(ours, [second, second])
    for own in scores:
        seen = set(known)
        for event, of in zip(second, own, strict=True):
            assert all(set(scored) == seen for scored in of.values())
            seen.add(event.label)


@settings(max_examples=20, deadline=None)
@given(streams())
def test_naive_bayes_of_any_shards_has_the_counts_of_one_stream(stream):
    """Only its predictions within a round differ: counts of values that are sums of powers of two add up exactly."""
    stream = [Example(dict.fromkeys(event.x, 1.0), event.label, event.weight) for event in stream]
    ours, serial = model_of({"kind": "naive_bayes"}), model_of({"kind": "naive_bayes"})
    one_round(ours, [stream[shard::3] for shard in range(3)])
    one_round(serial, [stream])
    for name in ("totals", "events"):
        of = [
            dict(zip(one.labels.names, getattr(one.learners["naive_bayes"], name).tolist(), strict=False))
            for one in (ours, serial)
        ]
        assert of[0] == of[1]
    assert float(ours.learners["naive_bayes"].n) == float(serial.learners["naive_bayes"].n)


@pytest.mark.parametrize("kind", ["averaged_perceptron", "passive_aggressive"])
def test_sums_of_weights_over_time_add_up(kind):
    """S = t W - U of two shards, each from the same start: S' - S = (S_1 - S) + (S_2 - S), for rows that one shard
    changed, those that both did, and those that none did; t' = t + 2 + 3.
    """
    parameters = {"averaged": True} if kind == "passive_aggressive" else {}
    ours = model_of({"kind": kind} | parameters)
    learner = ours.learners[kind]
    start = [Example({j: 1.0}, "ab"[j % 2]) for j in (*range(8), *range(8))]
    one_round(ours, [start])
    shards = [
        [Example({0: 1.0, 2: 2.0}, "b"), Example({1: 1.0}, "a")],
        [Example({2: 1.0, 3: 1.0}, "b"), Example({3: 1.0}, "a"), Example({9: 1.0}, "a")],
    ]

    def sums():
        n = len(ours.rows["words"])
        s = float(learner.clock) * learner.weights[:n, :2].astype(float) - learner.sums[:n, :2]
        return dict(zip(ours.rows["words"].buckets.tolist(), s, strict=True))

    before, clock, after = sums(), float(learner.clock), []
    for events in shards:
        alone = model_of({"kind": kind} | parameters)
        one_round(alone, [start])
        one_round(alone, [events])
        ours, learner, kept = alone, alone.learners[kind], (ours, learner)
        after.append(sums())
        ours, learner = kept
    one_round(ours, shards)
    assert float(learner.clock) == clock + 5
    for bucket, s in sums().items():
        zero = np.zeros(2)
        own = [one.get(bucket, zero) - before.get(bucket, zero) for one in after]
        assert_allclose(s - before.get(bucket, zero), own[0] + own[1], rtol=1e-5, atol=1e-5, err_msg=str(bucket))


def test_a_perceptron_takes_the_mean_of_the_shards_that_changed_a_row():
    """One event of each label brings the labels x and y, and W_x = (-1; -1), W_y = (1; 1) for feature 1 and the bias.

    Shard 1 has feature 1 as x: wrong, W_x += 1, W_y -= 1. Shard 2 has it twice as x: the first one corrects to 0, and
    the tie goes to x, so that nothing more is learned. Shards 3 and 4 have feature 2 and 3 as x, scored by the bias:
    wrong, too. Feature 1 was changed by 1 and 1, by two shards; feature 2 by 1, by one; the bias by 1 four times.
    """
    ours = model_of({"kind": "perceptron"})
    one_round(ours, [[Example({1: 1.0}, "x"), Example({1: 1.0}, "y")]])
    one_round(
        ours, [[Example({1: 1.0}, "x")], [Example({1: 1.0}, "x")] * 2, *([Example({j: 1.0}, "x")] for j in (2, 3))]
    )
    learner = ours.learners["perceptron"]
    assert_array_equal(learner.weights[:2, :2], [[0, 0], [1, -1]])
    assert_array_equal(learner.bias[:2], [0, 0])


def test_logistic_regression_weighs_changes_by_squared_gradients():
    """Changes (1, 3) of one weight, with squared gradients (0.5, 1.5) and no shard that did not see it:

    W = (0.5 * 1 + 1.5 * 3) / 2 = 2.5,   G = (0.25 + 2.25) / 2 = 1.25
    """
    from streamlin.learners import LogisticRegression
    from streamlin.learners.mixing import Change

    def change(d, g):
        table = {"weights": np.array([[d]], np.float32), "gradient_squares": np.array([[g]])}
        bias = {"bias": np.zeros(1, np.float32), "bias_squares": np.zeros(1)}
        return Change(np.zeros(1, np.int32), np.zeros(1, np.int32), table, bias)

    learner = LogisticRegression()
    learner.grow(1, 1)
    learner.mix([change(1.0, 0.5), change(3.0, 1.5)])
    assert learner.weights[0, 0] == 2.5
    assert learner.gradient_squares[0, 0] == 1.25
