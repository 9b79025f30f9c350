"""Factories of external models, as a configuration names them: `tests.external_models.models:bayes`."""

import numpy as np
from river import compose, feature_extraction, linear_model, naive_bayes, preprocessing
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

from tests.external_models.plain import Answering, Counting, Failing, Stateful, Unweighted, leaving, number, unpicklable


def bayes(alpha=0.3):
    """Words of the text, counted; probabilities."""
    return feature_extraction.BagOfWords() | naive_bayes.MultinomialNB(alpha=alpha)


def passive_aggressive():
    """A pipeline whose last step knows only the two labels True and False."""
    return feature_extraction.BagOfWords() | linear_model.PAClassifier()


def scaler():
    """A river model that is not a classifier."""
    return compose.Pipeline(preprocessing.StandardScaler())


class Texts:
    """A scikit-learn classifier of texts, which makes its own features."""

    def __init__(self):
        self._features = HashingVectorizer(n_features=1 << 12)
        self._model = SGDClassifier(loss="log_loss", random_state=1)

    @property
    def classes_(self):
        return self._model.classes_

    def partial_fit(self, texts, y, classes=None):
        self._model.partial_fit(self._features.transform(texts), y, classes=classes)

    def predict(self, texts):
        return self._model.predict(self._features.transform(texts))

    def predict_proba(self, texts):
        return self._model.predict_proba(self._features.transform(texts))


an_array = np.zeros(3)

__all__ = [
    "Answering",
    "Counting",
    "Failing",
    "Stateful",
    "Texts",
    "Unweighted",
    "an_array",
    "bayes",
    "leaving",
    "number",
    "passive_aggressive",
    "scaler",
    "unpicklable",
]
