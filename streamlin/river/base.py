"""A learner as a classifier of river."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from river.base import MiniBatchClassifier, tags

from streamlin.features import Buckets
from streamlin.features.views import Blocks
from streamlin.learners import softmax
from streamlin.learners.standalone import Text
from streamlin.learners.targets import checked_weights
from streamlin.learners.wrappers import Wrapper
from streamlin.river.frames import features_of
from streamlin.river.names import by_text

Features = str | Mapping[Hashable, float]
"""A text, or a mapping of feature to value."""


class OnlineClassifier(Wrapper, MiniBatchClassifier):
    """river's interface of a classifier, on top of a learner.

    Any hashable object can be a label; predictions are the same objects that were learned. Names of features in a
    mapping may have any type: a tuple of words, as river makes n-grams, is the same feature as the n-gram in a text; of
    other names the `str` counts.

    Raises
    ------
    ConfigError : a parameter is invalid.
    RecordError : a text, a feature's value or a weight is invalid.
    """

    def _parameters_are_set(self) -> None:
        self._learner = self._new_learner()

    def _more_tags(self) -> set[str]:
        return {tags.POSITIVE_INPUT} if self._kind.nonnegative_values else set()

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: Features, y: Any, w: float = 1.0) -> None:
        """Learn a text, or mapping of feature to value, with its label; w >= 0 is its weight."""
        try:
            self._learner.learn_label(x, y, w)  # type: ignore[arg-type]  # names that are not str raise TypeError
        except TypeError:
            self._learner.learn_label(_named(x), y, w)

    def predict_one(self, x: Features) -> Any:  # type: ignore[override]  # river's takes further keywords
        """The best scored label; None while no label is known."""
        try:
            return self._learner.predict_one(x)  # type: ignore[arg-type]
        except TypeError:
            return self._learner.predict_one(_named(x))

    def predict_proba_one(self, x: Features) -> dict[Any, float]:  # type: ignore[override]
        """Each label's probability: the softmax of the scores."""
        try:
            return self._learner.predict_proba_one(x)  # type: ignore[arg-type]
        except TypeError:
            return self._learner.predict_proba_one(_named(x))

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Learn a Series of texts, or a DataFrame of features, row by row, as `learn_one` would.

        y : Series of labels. w : one weight for all, or a Series of weights.
        """
        weights = checked_weights(np.full(len(X), w))
        self._learner.learn_features(self._features(X), y.tolist(), weights)

    def predict_many(self, X: Any) -> Any:
        """A Series of the best scored labels; None while no label is known."""
        from pandas import Series

        scores = self._learner.score_features(self._features(X))
        return Series(self._learner.best_labels(scores), index=X.index, dtype=None if len(X) else object)

    def predict_proba_many(self, X: Any) -> Any:
        """A DataFrame of probabilities, one column for each label."""
        from pandas import DataFrame

        scores = self._learner.score_features(self._features(X))
        return DataFrame(softmax(scores), index=X.index, columns=self._learner.labels.names)

    def _features(self, X: Any) -> Buckets | Blocks:
        features = features_of(X, self._learner.view)
        if isinstance(features, Buckets):
            self._learner.check_values(features.values)
        return features


def _named(x: Features) -> Text:
    """The mapping with its names as texts; a text unchanged."""
    return by_text(x) if isinstance(x, Mapping) else x
