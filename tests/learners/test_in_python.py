"""What Python runs in place of a learner's kernel while that is compiled gives the same numbers, to the bit."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from streamlin.features.joint import place_entries
from streamlin.features.rows import Examples
from streamlin.kernel.late import in_python
from streamlin.learners import (
    Arow,
    AveragedPerceptron,
    Hinge,
    LogisticRegression,
    Mixture,
    NaiveBayes,
    PassiveAggressive,
    Perceptron,
    StochasticGradientDescent,
    mixture,
    targets,
)
from streamlin.learners.forgetting import scale_down
from streamlin.learners.likelihoods import sum_of_logs
from streamlin.learners.step import Kernels
from tests.learners.running import REAL_STREAMS, Run
from tests.sample_streams import BITS, real_examples, streams

LEARNERS = {
    "naive-bayes": NaiveBayes,
    "prior": partial(NaiveBayes, alpha=3.0, smoothing="prior", reset=0.9),
    "short-half-life": partial(NaiveBayes, half_life=2.0),
    "unlabelled": partial(NaiveBayes, smoothing="prior", half_life=1.5, unlabelled=[0.3, 1.0]),
    "perceptron": Perceptron,
    "averaged": AveragedPerceptron,
    "averaged-half-life": partial(AveragedPerceptron, half_life=1.0),
    "passive-aggressive": PassiveAggressive,
    "pa-ii-averaged": partial(PassiveAggressive, C=1.0, variant=2, averaged=True, half_life=1.5),
    "logistic-regression": LogisticRegression,
    "raw": partial(LogisticRegression, eta=0.1, normalize=False),
    "by-feature": partial(LogisticRegression, eta=1.0, squares="feature", damping=0.1, least_error=0.001),
    "arow": Arow,
    "arow-raw": partial(Arow, r=10.0, normalize=False),
    "hinge": Hinge,
    "hinge-raw": partial(Hinge, normalize=False),
    "sgd": StochasticGradientDescent,
    "pegasos": partial(StochasticGradientDescent, loss="hinge", rate="pegasos", l2=0.01, normalize=False),
    "bottou": partial(StochasticGradientDescent, loss="perceptron", rate="bottou", l2=0.3),
}
EVERY = pytest.mark.parametrize("new", LEARNERS.values(), ids=LEARNERS.keys())


def in_python_alone(learner):
    """The learner, whose kernel for batches Python runs."""
    kernels = learner.kernels_in_use()
    kernels = Kernels(in_python(kernels.learn_batch), kernels.learn_event)
    learner.kernels_in_use = lambda: kernels
    return learner


def check(new, examples, bits, size):
    ours, theirs = Run(in_python_alone(new()), bits), Run(new(), bits)
    with np.errstate(all="ignore"):
        for begin in range(0, len(examples), size):
            batch = examples[begin : begin + size]
            assert_array_equal(ours.step(batch), theirs.step(batch), strict=True)
    expected = theirs.state()
    for name, table in ours.state().items():
        assert_array_equal(table, expected[name], err_msg=name, strict=True)
    return expected


@EVERY
@settings(deadline=None, max_examples=30)
@given(streams(), st.integers(1, 40))
def test_generated_streams(new, examples, size):
    check(new, examples, BITS, size)


@EVERY
@pytest.mark.parametrize("name", [name for name, _ in REAL_STREAMS])
def test_real_streams(new, data, name):
    """200 events with 2 to 151 labels, of whose texts some are empty."""
    learned = check(new, real_examples(data / name, 200), 20, 64)
    assert any(table.any() for table in learned.values())


@settings(deadline=None)
@given(st.data(), st.integers(1, 4), st.integers(0, 12), st.integers(1, 4))
def test_mixtures(draw, members, n, n_labels):
    """Two batches; scores are likely numbers, and some that have overflowed."""
    numbers = st.floats(-20, 20) | st.sampled_from([0.0, 1e200, -1e308, np.inf, np.nan])
    both = Mixture(members, first_variances=[2.0] * members), Mixture(members, first_variances=[2.0] * members)
    for _ in range(2):
        scores = draw.draw(arrays(np.float64, (members, n, n_labels), elements=numbers))
        codes = draw.draw(arrays(np.int32, n, elements=st.integers(-1, n_labels - 1)))
        weights = draw.draw(arrays(np.float64, n, elements=st.sampled_from([0.5, 1.0, 3.0])))
        found = []
        for k, own in enumerate(both):
            own.grow(n_labels)
            out = np.empty((n, n_labels))
            with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
                if k == 0:
                    patch.setattr(mixture, "mix_batch", in_python(mixture.mix_batch))
                own.score_then_learn(scores, targets(codes, weights, 0), out)
            found.append(out)
        assert_array_equal(*found)
    ours, theirs = (own.state(n_labels) for own in both)
    for name, table in ours.items():
        assert_array_equal(table, theirs[name], err_msg=name)


@given(st.data(), st.lists(st.integers(0, 4), max_size=8), st.booleans())
def test_entries_of_several_views(draw, lengths, scaled):
    n, indptr = len(lengths), np.cumsum([3, *lengths])
    rows = draw.draw(arrays(np.int32, int(indptr[-1]) + 2, elements=st.integers(-2, 5)))
    values = draw.draw(arrays(np.float32, rows.size, elements=st.floats(0, 4, width=32)))
    gaps = draw.draw(arrays(np.int64, n, elements=st.integers(0, 3)))
    at = np.cumsum(gaps + np.array([0, *lengths], np.int64)[:n])
    found = []
    for place in (in_python(place_entries), place_entries):
        ends, size = at.copy(), int(indptr[-1] + gaps.sum())
        all_rows, all_values = np.zeros(size, np.int32), np.zeros(size, np.float32)
        place(indptr, rows, values, np.arange(10, 16, dtype=np.int32), scaled, ends, all_rows, all_values)
        found.append((ends, all_rows, all_values))
    for ours, theirs in zip(*found, strict=True):
        assert_array_equal(ours, theirs)


@given(st.data(), st.integers(0, 9), st.integers(1, 3))
def test_products_of_few_factors(draw, n, most):
    """Where counts are so large that few factors fit into a product, and values differ."""
    values = draw.draw(arrays(np.float32, n, elements=st.sampled_from([1.0, 1.0, 2.5])))
    rows = draw.draw(arrays(np.int32, n, elements=st.integers(-1, 6)))
    examples = Examples(np.array([0, n]), rows, values, np.array([5]))
    counts = draw.draw(arrays(np.float64, (7, 3), elements=st.floats(0, 1e6)))
    inverses, found = np.array([0.5, 2.0, 0.0]), []
    for own in (in_python(sum_of_logs), sum_of_logs):
        scores = np.zeros(4)
        mass = own(examples, 0, counts, 3, most, inverses, np.empty(3), scores)
        found.append([mass, *scores])
    assert_array_equal(*found)


@given(arrays(np.float64, (3, 2), elements=st.floats()) | arrays(np.float32, (3, 2), elements=st.floats(width=32)))
def test_scaling_down(table):
    twin = table.copy()
    with np.errstate(all="ignore"):
        in_python(scale_down)(table)
    scale_down(twin)
    assert_array_equal(table, twin)
