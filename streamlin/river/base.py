"""A learner as a classifier of river."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from river.base import MiniBatchClassifier

from streamlin.features import Buckets
from streamlin.learners import softmax
from streamlin.learners.alone import Text
from streamlin.learners.parameters import Parameters
from streamlin.learners.targets import checked_weights
from streamlin.river.frames import features_of
from streamlin.river.names import by_text

Features = str | Mapping[Hashable, float]
"""A text, or a mapping of feature to value."""


class OnlineClassifier(Parameters, MiniBatchClassifier):
    """What river asks of a classifier, in terms of a learner.

    A label is anything that can be a key; predictions are the very objects that were learned. Features of a mapping may
    have any names: one that is a tuple of words, as river's n-grams are, is the n-gram of a text; of others it is what
    `str` makes of them that counts.

    Raises
    ------
    ConfigError : a parameter is not as it must be.
    RecordError : a text, a feature's value or a weight is not.
    """

    def __post_init__(self) -> None:
        self._learner = self._new_learner()

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: Features, y: Any, w: float = 1.0) -> None:
        """Learn a text, or mapping of feature to value, with its label; w >= 0 is its weight."""
        try:
            self._learner.learn_label(x, y, w)  # type: ignore[arg-type]  # which names are texts shows soon enough
        except TypeError:
            self._learner.learn_label(_named(x), y, w)

    def predict_one(self, x: Features) -> Any:  # type: ignore[override]  # river's takes anything further
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
        """Learn a Series of texts, or a DataFrame of features, one row after the other, as `learn_one` would.

        y : Series of labels. w : a weight, or a Series of them.
        """
        weights = checked_weights(np.full(len(X), w))
        self._learner.learn_features(self._features(X), y.tolist(), weights)

    def predict_many(self, X: Any) -> Any:
        """A Series of the best scored labels; None while no label is known."""
        from pandas import Series

        scores = self._learner.score_features(self._features(X))
        return Series(self._learner.best_labels(scores), index=X.index, dtype=None if len(X) else object)

    def predict_proba_many(self, X: Any) -> Any:
        """A DataFrame of probabilities, a column a label."""
        from pandas import DataFrame

        scores = self._learner.score_features(self._features(X))
        return DataFrame(softmax(scores), index=X.index, columns=self._learner.labels.names)

    def _features(self, X: Any) -> Buckets:
        features = features_of(X, self._learner.view)
        self._learner.check_values(features.values)
        return features


def _named(x: Features) -> Text:
    """Of a mapping whose names are not all texts, one whose are."""
    return by_text(x) if isinstance(x, Mapping) else x
