"""The learners in plain Python, one event at a time, on dicts: what the kernels have to compute, bit for bit.

A table that the kernels keep in float32 is rounded here wherever it is written; all else is a Python float.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import exp, log, sqrt

import numpy as np

Features = Mapping[int, float]
Scores = dict[str, float]


def rounded(value: float) -> float:
    """The float32 next to a value."""
    return float(np.float32(value))


def best(scores: Scores) -> str | None:
    """The best scored label; of several the one seen first, as dicts keep their order; None of none."""
    return max(scores, key=scores.__getitem__, default=None)


class Naive:
    """Test, then train: scores from before the event, then labels and features appear, then it is learned from."""

    def __init__(self) -> None:
        self.labels: list[str] = []
        self.seen: set[int] = set()

    def step(self, x: Features, label: str | None, weight: float = 1.0) -> Scores:
        """The scores of the labels known before the event."""
        scores = self.scores(x)
        if label is not None and weight > 0:
            if label not in self.labels:
                self.labels.append(label)
            self.seen |= x.keys()
            self.learn(x, label, weight, scores)
        return scores

    def scores(self, x: Features) -> Scores:
        raise NotImplementedError

    def learn(self, x: Features, label: str, weight: float, scores: Scores) -> None:
        raise NotImplementedError


class NaiveNaiveBayes(Naive):
    def __init__(self, alpha: float = 0.3) -> None:
        super().__init__()
        self.alpha = alpha
        self.counts: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        self.logs: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        self.totals: dict[str, float] = defaultdict(float)
        self.events: dict[str, float] = defaultdict(float)
        self.n = 0.0

    def scores(self, x: Features) -> Scores:
        x = {j: value for j, value in x.items() if j in self.seen}
        return {
            k: _dot(x, self.logs[k]) + (self._log_prior(k) + _sum(x.values()) * self._log_alpha_share(k))
            for k in self.labels
        }

    def _log_prior(self, k: str) -> float:
        return log((self.events[k] + 1) / (self.n + len(self.labels)))

    def _log_alpha_share(self, k: str) -> float:
        """What a feature that never came with label k has: log alpha / (N_k + alpha V)."""
        return log(self.alpha) - log(self.totals[k] + self.alpha * max(1, len(self.seen)))

    def learn(self, x: Features, label: str, weight: float, scores: Scores) -> None:
        for j, value in x.items():
            self.counts[label][j] += weight * value
            self.logs[label][j] = rounded(log(self.counts[label][j] + self.alpha) - log(self.alpha))
            self.totals[label] += weight * value
        self.events[label] += weight
        self.n += weight


class Linear(Naive):
    """Weights and a bias for each label, both rounded to float32."""

    def __init__(self) -> None:
        super().__init__()
        self.weights: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        self.bias: dict[str, float] = defaultdict(float)

    def scores(self, x: Features) -> Scores:
        return {k: self.bias[k] + _dot(x, self.weights[k]) for k in self.labels}

    def add(self, step: float, x: Features, k: str) -> None:
        for j, value in x.items():
            self.weights[k][j] = rounded(self.weights[k][j] + step * value)
        self.bias[k] = rounded(self.bias[k] + step)


class NaivePerceptron(Linear):
    def learn(self, x: Features, label: str, weight: float, scores: Scores) -> None:
        guess = best(scores)
        if guess is not None and guess != label:
            self.add(weight, x, label)
            self.add(-weight, x, guess)


class NaiveAveragedPerceptron(Linear):
    def __init__(self) -> None:
        super().__init__()
        self.sums: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        self.bias_sums: dict[str, float] = defaultdict(float)
        self.clock = 0

    def scores(self, x: Features) -> Scores:
        current, t = super().scores(x), max(1, self.clock)
        return {k: current[k] - (self.bias_sums[k] + _dot(x, self.sums[k])) / t for k in current}

    def learn(self, x: Features, label: str, weight: float, scores: Scores) -> None:
        if not scores.keys() - {label}:
            return
        current = super().scores(x)
        guess = best({k: current[k] for k in scores})
        if guess != label:
            for k, step in ((label, weight), (guess, -weight)):
                self.add(step, x, k)
                for j, value in x.items():
                    self.sums[k][j] += step * self.clock * value
                self.bias_sums[k] += step * self.clock
        self.clock += 1


class NaivePassiveAggressive(Linear):
    def __init__(self, C: float = 0.1) -> None:
        super().__init__()
        self.C = C

    def learn(self, x: Features, label: str, weight: float, scores: Scores) -> None:
        rival = best({k: score for k, score in scores.items() if k != label})
        if rival is None:
            return
        loss = 1 + scores[rival] - scores.get(label, 0.0)
        if loss > 0:
            step = weight * min(self.C, loss / (2 * (1 + _squared_length(x))))
            self.add(step, x, label)
            self.add(-step, x, rival)


class NaiveLogisticRegression(Linear):
    def __init__(self, eta: float = 0.45, epsilon: float = 1e-10, normalize: bool = True) -> None:
        super().__init__()
        self.eta, self.epsilon, self.normalize = eta, epsilon, normalize
        self.squares: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        self.bias_squares: dict[str, float] = defaultdict(float)

    def scores(self, x: Features) -> Scores:
        scale = self._scale(x)
        return {k: self.bias[k] + scale * _dot(x, self.weights[k]) for k in self.labels}

    def learn(self, x: Features, label: str, weight: float, scores: Scores) -> None:
        if not scores.keys() - {label}:
            return
        errors = softmax(scores | {label: scores.get(label, 0.0)})
        errors[label] -= 1
        scale = self._scale(x)
        for k, error in errors.items():
            for j, value in x.items():
                self.weights[k][j], self.squares[k][j] = self._stepped(
                    self.weights[k][j], self.squares[k][j], weight * error * (scale * value)
                )
            self.bias[k], self.bias_squares[k] = self._stepped(self.bias[k], self.bias_squares[k], weight * error)

    def _stepped(self, w: float, squares: float, gradient: float) -> tuple[float, float]:
        squares += gradient * gradient
        return rounded(w - self.eta * gradient / sqrt(squares + self.epsilon)), squares

    def _scale(self, x: Features) -> float:
        length = sqrt(_squared_length(x))
        return 1 / length if self.normalize and length > 0 else 1.0


def softmax(scores: Scores) -> Scores:
    """The probabilities of scored labels."""
    top = max(scores.values())
    powers = {k: exp(score - top) for k, score in scores.items()}
    total = _sum(powers.values())
    return {k: power / total for k, power in powers.items()}


def _dot(x: Features, weights: Features) -> float:
    return _sum(value * weights[j] for j, value in x.items() if j in weights)


def _squared_length(x: Features) -> float:
    return _sum(value * value for value in x.values())


def _sum(values: Iterable[float]) -> float:
    """From left to right; Python's own `sum` compensates for rounding errors from 3.12 on."""
    total = 0.0
    for value in values:
        total += value
    return total
