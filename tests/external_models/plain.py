"""External models with the methods of river's models but without the library; quick to import."""

from collections import Counter
from math import nan


class Counting:
    """Predicts the most common label so far, without probabilities; learns by weight."""

    def __init__(self):
        self.weights, self.seen = Counter(), []

    def predict_one(self, x):
        return max(self.weights, key=self.weights.__getitem__)

    def learn_one(self, x, y, w=1.0):
        self.weights[y] += w
        self.seen.append(x)


class Unweighted(Counting):
    """Accepts no weights."""

    def learn_one(self, x, y):
        super().learn_one(x, y)


class Stateful(Counting):
    """Gives probabilities that depend on everything learned before, in order."""

    def predict_proba_one(self, x):
        total = sum(self.weights.values()) + len(self.seen) % 7 + len(x)
        return {label: weight / total for label, weight in self.weights.items()}


class Failing(Counting):
    """Fails in the given way once it has learned `after` labels."""

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
    """Always gives the same probabilities."""

    def __init__(self, answer):
        super().__init__()
        self._answer = answer

    def predict_proba_one(self, x):
        return self._answer


def unpicklable():
    """A classifier that holds an object that can't be pickled."""
    model = Counting()
    model.seen.append(lambda: None)
    return model


def leaving():
    """Exits the program instead of returning a model."""
    raise SystemExit("goodbye")


def number():
    """Returns a number instead of a classifier."""
    return 5
