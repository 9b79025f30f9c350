"""A learner as a classifier of scikit-learn."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from streamlin.errors import ConfigError
from streamlin.features import Buckets, View
from streamlin.features.sparse import bits_for, entries
from streamlin.features.views import Blocks
from streamlin.learners import Learner, softmax
from streamlin.learners.wrappers import Wrapper
from streamlin.sklearn.validation import as_texts, checked_labels, sample_weights

_SIMPLE = (str, int, bool)


class OnlineClassifier(Wrapper, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # they have no types
    """scikit-learn's interface of a classifier, on top of a learner.

    X is a sequence of texts (a list, an array, a Series), or a matrix [n_samples, n_features], dense or sparse, whose
    column j is feature j. All later calls must use the same kind of input as the first.

    `partial_fit` learns sample by sample, so that one call with all samples equals one call for each. `fit` makes one
    pass too, in shuffled order. Labels need not be announced; those that are (`classes`) can be predicted from the
    start. Of equal scores the label that comes first in `classes_` wins.

    Attributes
    ----------
    classes_ : the labels known so far, sorted.
    learner_ : the `streamlin.Learner`, created from the parameters at the first call.
    n_features_in_, feature_names_in_ : set for matrices only; the latter for a DataFrame.
    """

    learner_: Learner
    classes_: NDArray[Any]
    _order: NDArray[np.int64]
    """int64[n_labels], the learner's code of each of `classes_`."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if self._kind.nonnegative_values:
            tags.input_tags.positive_only = True
            tags.classifier_tags.poor_score = True  # on values that are no counts, as scikit-learn's own naive Bayes
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn the samples in one pass, in a shuffled order that is always the same.

        Samples may therefore be sorted by label. Raises what `partial_fit` raises.
        """
        for name in ("learner_", "classes_", "_order", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        self._learn(X, y, None, sample_weight, shuffled=True)
        if not self.learner_.labels:
            raise ValueError("sample_weight is zero for all samples, expected at least one above 0")
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn further samples, one by one.

        y : their labels, which may be new. classes : labels that may come later; optional.
        sample_weight : >= 0, multiplies the update by each sample; None: 1 each.

        Raises
        ------
        ValueError : a parameter, X, y or sample_weight is invalid, or they differ in length.
        """
        if classes is None and sample_weight is None and self._is_known_pair(X, y):
            self.learner_.learn_label(X[0], y[0])
        else:
            self._learn(X, y, classes, sample_weight)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The best scored label of each sample."""
        best = self._scores(X).argmax(axis=1)  # raises NotFittedError while no label is known
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """float64[n_samples, n_labels], each label's probability: the softmax of the scores."""
        return softmax(self._scores(X))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The scores, float64[n_samples, n_labels]; for two labels float64[n_samples], second less first."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any, shuffled: bool = False) -> None:
        first = "learner_" not in vars(self)
        samples = self._samples(X, first)
        labels = checked_labels(y, len(samples) if isinstance(samples, list) else samples.indptr.size - 1)
        weights = sample_weights(sample_weight, labels.size)
        announced = [] if classes is None else np.unique(column_or_1d(classes)).tolist()
        self._check_new(labels, announced)
        learner = self._learner_of(samples) if first else self.learner_
        features = _features(samples, learner)
        if shuffled:
            order = np.random.RandomState(0).permutation(labels.size)  # the same in all versions of numpy
            features, labels, weights = features.take(order), labels[order], weights[order]
        learner.labels.learn(announced)
        learner.learn_features(features, labels.tolist(), weights)
        self.learner_ = learner
        self._sort_labels()

    def _is_known_pair(self, X: Any, y: Any) -> bool:
        """Whether X and y are one text and a known label: full validation would take far longer than learning them."""
        fitted = vars(self)
        return (
            _is_one_text(X)
            and type(y) is list
            and len(y) == 1
            and type(y[0]) in _SIMPLE
            and "classes_" in fitted
            and "n_features_in_" not in fitted
            and self.learner_.labels.code(y[0]) >= 0
        )

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """float64[n_samples, n_labels], in the order of `classes_`."""
        fitted = vars(self)
        if "classes_" not in fitted:
            check_is_fitted(self, "classes_")
        if _is_one_text(X) and "n_features_in_" not in fitted:
            return self.learner_.scores_one(X[0])[:, self._order]
        return self.learner_.score_features(_features(self._samples(X, False), self.learner_))[:, self._order]

    def _samples(self, X: Any, first: bool) -> list[str] | Buckets:
        """X as texts, or as the features of a matrix."""
        texts = as_texts(X)
        if not first and (texts is None) != hasattr(self, "n_features_in_"):
            raise ValueError(f"X must be {'texts' if texts is None else 'a matrix'}, as in the first call")
        if texts is not None:
            return texts
        X = validate_data(self, X, reset=first, accept_sparse="csr", dtype=np.float32)
        features = entries(csr_matrix(X))
        self._check_values(features.values)
        return features

    def _check_values(self, values: NDArray[np.float32]) -> None:
        """Raise ValueError for values of a matrix from which it can't learn."""
        if self._kind.nonnegative_values and values.min(initial=0) < 0:
            raise ValueError(f"Negative values in data passed to {type(self).__name__} (input X)")

    def _learner_of(self, samples: list[str] | Buckets) -> Learner:
        """A new learner for the first samples. Each column of a matrix is a bucket: `features` is for texts."""
        others = {} if isinstance(samples, list) else {"features": View(bits=bits_for(self.n_features_in_))}
        try:
            return self._new_learner(**others)
        except ConfigError as error:
            raise ValueError(str(error)) from None

    def _check_new(self, labels: NDArray[Any], announced: list[Any]) -> None:
        """Raise ValueError for a new label that is invalid, or whose type does not fit the known labels."""
        known = set(self.classes_.tolist()) if "classes_" in vars(self) else set()
        if known.issuperset(labels.tolist()) and known.issuperset(announced):
            return
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        unique_labels(labels, *([sorted(known)] if known else []), *([announced] if announced else []))

    def _sort_labels(self) -> None:
        """Update `classes_` after new labels."""
        names = self.learner_.labels.names
        if len(names) > len(vars(self).get("classes_", ())):
            labels = np.array(names)
            self._order = labels.argsort(kind="stable")
            self.classes_ = labels[self._order]


def _is_one_text(X: Any) -> bool:
    return type(X) is list and len(X) == 1 and type(X[0]) is str


def _features(samples: list[str] | Buckets, learner: Learner) -> Buckets | Blocks:
    return learner.view.of_texts(samples) if isinstance(samples, list) else samples
