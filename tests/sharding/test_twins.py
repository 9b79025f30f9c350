"""Each learner, mixed after every round, beside its twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests import naive
from tests.locations import DATA
from tests.naive_sharding import NaiveShards
from tests.sample_streams import Example, real_examples, streams
from tests.sharding.running import model_of, one_round

TWINS = {
    "naive_bayes": (naive.NaiveNaiveBayes, {}),
    "fading": (naive.NaiveNaiveBayes, {"kind": "naive_bayes", "smoothing": "prior", "half_life": 10000, "reset": 0.5}),
    "perceptron": (naive.NaivePerceptron, {}),
    "averaged_perceptron": (naive.NaiveAveragedPerceptron, {}),
    "passive_aggressive": (naive.NaivePassiveAggressive, {}),
    "mira": (naive.NaiveAveragedPassiveAggressive, {"kind": "passive_aggressive", "averaged": True}),
    "logistic_regression": (naive.NaiveLogisticRegression, {}),
    "by_feature": (naive.NaiveLogisticRegression, {"kind": "logistic_regression", "squares": "feature"}),
    "hinge": (naive.NaiveHinge, {}),
    "arow": (naive.NaiveArow, {}),
    "sgd": (naive.NaiveSGD, {}),
}


def twin_of(name):
    kind, parameters = TWINS[name]
    return NaiveShards(kind(**{key: value for key, value in parameters.items() if key not in ("kind", "averaged")}))


def learners(names=TWINS):
    return [{"kind": name, "name": name} | TWINS[name][1] for name in names]


def check(model, twins, shards):
    ours = one_round(model, shards)
    for name, twin in twins.items():
        for own, theirs in zip(ours, twin.round(shards), strict=True):
            for event, scores in zip(own, theirs, strict=True):
                assert list(event[name]) == list(scores), name
                assert_array_equal(list(event[name].values()), list(scores.values()), err_msg=name)
        assert twin.common.labels == model.labels.names
        assert twin.common.seen == set(model.rows["words"].buckets.tolist())


@pytest.mark.parametrize("stream", ["sms-spam", "trec-6"])
def test_every_learner_scores_as_its_twin_after_each_round(stream):
    """Three shards, of which the last one has no events in the second round."""
    examples = real_examples(DATA / f"{stream}.jsonl.gz", 240)
    model, twins, begin = model_of(*learners(), bits=20), {name: twin_of(name) for name in TWINS}, 0
    for size in (30, 40, 70, 100):
        events, begin = examples[begin : begin + size], begin + size
        check(model, twins, [events[shard::3] if size != 40 or shard < 2 else [] for shard in range(3)])


@settings(max_examples=20, deadline=None)
@given(streams(), st.integers(1, 4), st.integers(1, 12))
def test_any_stream_scores_as_its_twin(stream, shards, size):
    names = ["naive_bayes", "averaged_perceptron", "logistic_regression", "arow"]
    model, twins = model_of(*learners(names)), {name: twin_of(name) for name in names}
    for begin in range(0, len(stream), size):
        check(model, twins, [stream[begin : begin + size][shard::shards] for shard in range(shards)])


def test_half_lives_scale_sums_down_before_a_shard_must():
    """With a half-life of 8 events the increment doubles every eight; after 700 it has outgrown 2^32 twice."""
    model = model_of({"kind": "naive_bayes", "half_life": 10000})
    model.learners["naive_bayes"].half_life = 8
    twin = NaiveShards(naive.NaiveNaiveBayes(half_life=8))
    random = np.random.default_rng(3)
    for _ in range(14):
        shards = [
            [
                Example({int(j): 1.0 for j in random.integers(0, 40, 4)}, "ab"[int(random.integers(2))])
                for _ in range(25)
            ]
            for _ in range(2)
        ]
        for own, theirs in zip(one_round(model, shards), twin.round(shards), strict=True):
            for event, scores in zip(own, theirs, strict=True):
                assert_allclose(list(event["naive_bayes"].values()), list(scores.values()), rtol=1e-12)
    assert float(model.learners["naive_bayes"].growth) < 32 < twin.common.growth
