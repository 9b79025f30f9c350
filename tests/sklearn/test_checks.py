"""scikit-learn's own checks, all of them."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from streamlin import sklearn
from tests.sklearn.kinds import CLASSIFIERS

WEIGHTED = "a weight multiplies one step; as many steps would each see what the one before it did"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTED,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTED,
}
OF_COUNTS = {"check_decision_proba_consistency": "its data are negative, tag or not; see the test below"}


def expected(model):
    """The checks expected to fail. Only in naive Bayes, which counts, a weight of 2 equals learning twice."""
    return OF_COUNTS if isinstance(model, sklearn.NaiveBayes) else EXPECTED


@parametrize_with_checks([getattr(sklearn, name)() for name in CLASSIFIERS], expected_failed_checks=expected)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_probabilities_rise_with_the_decision_function(name):
    """scikit-learn's own check uses negative values, which naive Bayes refuses."""
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, 100)
    X = generator.uniform(size=(100, 4)) + y[:, None] * [1, 0, 0, 0]
    model = getattr(sklearn, name)().fit(X, y)
    order = model.decision_function(X).argsort()
    assert (np.diff(model.predict_proba(X)[order, 1]) >= 0).all()
