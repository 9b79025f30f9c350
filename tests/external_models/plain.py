"""External models of no library, which have the methods of river's; quick to import."""

from collections import Counter
from math import nan


class Counting:
    """Predicts the commonest label so far, and nothing but a label; learns by weight."""

    def __init__(self):
        self.weights, self.seen = Counter(), []

    def predict_one(self, x):
        return max(self.weights, key=self.weights.__getitem__)

    def learn_one(self, x, y, w=1.0):
        self.weights[y] += w
        self.seen.append(x)


class Unweighted(Counting):
    """Knows of no weights."""

    def learn_one(self, x, y):
        super().learn_one(x, y)


class Stateful(Counting):
    """Gives odds that depend on all that was asked and learned before, in this order."""

    def predict_proba_one(self, x):
        total = sum(self.weights.values()) + len(self.seen) % 7 + len(x)
        return {label: weight / total for label, weight in self.weights.items()}


class Failing(Counting):
    """Fails once it has learned so many labels, in the way asked for."""

    def __init__(self, after=5, how="predict"):
        super().__init__()
        self._after, self._how = after, how

    def predict_one(self, x):
        if len(self.seen) == self._after:
            if self._how == "predict":
                raise RuntimeError("no more\npredictions")
            if self._how == "exit":
                raise SystemExit
            if self._how == "nan":
                return nan
            if self._how == "unknown":
                return "another"
            if self._how == "none":
                return None
        return super().predict_one(x)

    def learn_one(self, x, y):
        if self._how == "learn" and len(self.seen) == self._after:
            raise ValueError("no more lessons")
        super().learn_one(x, y)
        if self._how == "unpicklable" and len(self.seen) == self._after:
            self.seen.append(lambda: None)


class Answering(Counting):
    """Always gives the answer it was made with as its probabilities."""

    def __init__(self, answer):
        super().__init__()
        self._answer = answer

    def predict_proba_one(self, x):
        return self._answer


def unpicklable():
    """A classifier with something in it that can't be pickled."""
    model = Counting()
    model.seen.append(lambda: None)
    return model


def leaving():
    """Ends the program instead of giving a model."""
    raise SystemExit("goodbye")


def number():
    """Nothing like a classifier."""
    return 5
