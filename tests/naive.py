"""The learners in plain Python, one event at a time, on dicts: the kernels must compute the same, bit for bit.

Tables that the kernels keep in float32 are rounded at each write; everything else is a Python float.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import groupby
from math import exp, exp2, frexp, log, prod, sqrt

import numpy as np

Features = Mapping[int, float]
Scores = dict[str, float]


def rounded(value: float) -> float:
    """The nearest float32."""
    return float(np.float32(value))


def best(scores: Scores) -> str | None:
    """The best scored label; of equal ones the one seen first, as dicts keep their order; None without scores."""
    return max(scores, key=scores.__getitem__, default=None)


class Naive:
    """Test, then train: compute scores, then add new labels and features, then learn."""

    def __init__(self) -> None:
        self.labels: list[str] = []
        self.seen: set[int] = set()

    def start_with(self, labels: Iterable[str], occurrences: Mapping[tuple[int, str], float]) -> None:
        """Words set by hand: how often each feature is held to have occurred with a label before the first event."""
        self.labels += labels
        for (j, k), strength in occurrences.items():
            self.seen.add(j)
            self.occurred(j, k, strength)

    def occurred(self, j: int, k: str, strength: float) -> None:
        raise NotImplementedError

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
    """Counts are never scaled down: the increment keeps growing."""

    def __init__(
        self,
        alpha: float = 0.3,
        smoothing: str = "uniform",
        half_life: float | None = None,
        reset: float | None = None,
    ) -> None:
        super().__init__()
        self.alpha, self.smoothing, self.reset = alpha, smoothing, reset
        self.rate = 0.0 if half_life is None else 1.0 / half_life
        self.growth, self.resets = 0.0, 0
        self.counts: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        self.totals: dict[str, float] = defaultdict(float)
        self.events: dict[str, float] = defaultdict(float)
        self.n = 0.0
        self.late_hits = self.late = self.long_hits = self.long = 0.0

    def start_with(self, labels: Iterable[str], occurrences: Mapping[tuple[int, str], float]) -> None:
        super().start_with(labels, occurrences)
        for k in self.labels:
            self.totals[k] = max(occurrences.values(), default=0.0)

    def occurred(self, j: int, k: str, strength: float) -> None:
        self.counts[k][j] = strength

    def scores(self, x: Features) -> Scores:
        x = {j: value for j, value in x.items() if j in self.seen}
        u = exp2(self.growth)
        inverses = {k: self._inverse(k, self.alpha * u) for k in self.labels}
        most = 1000 // frexp(1 + max((self.totals[k] * inverses[k] for k in self.labels), default=0.0))[1]
        return {
            k: self._sum_of_logs(x, k, inverses[k], most)
            + (self._log_prior(k, u) + _sum(x.values()) * self._offset(k, self.alpha * u))
            for k in self.labels
        }

    def _log_prior(self, k: str, u: float) -> float:
        return log(self.events[k] + u) - log(self.n + len(self.labels) * u)

    def _inverse(self, k: str, alpha: float) -> float:
        """1 / alpha, or 1 / (alpha N_k / N)."""
        if self.totals[k] == 0:
            return 0.0
        if self.smoothing == "uniform":
            return 1 / alpha
        return _sum(self.totals[k] for k in self.labels) / alpha / self.totals[k]

    def _offset(self, k: str, alpha: float) -> float:
        """The term of a feature never seen with label k: log alpha / (N_k + alpha V); by prior 0."""
        if self.smoothing == "prior":
            return 0.0
        return log(alpha) - log(self.totals[k] + alpha * max(1, len(self.seen)))

    def _sum_of_logs(self, x: Features, k: str, inverse: float, most: int) -> float:
        """For consecutive features of equal value, the value times the log of a product of up to `most` factors."""
        total = 0.0
        for value, alike in groupby(x, key=x.__getitem__):
            factors = [1 + self.counts[k][j] * inverse for j in alike]
            for begin in range(0, len(factors), most):
                total += value * log(prod(factors[begin : begin + most]))
        return total

    def learn(self, x: Features, label: str, weight: float, scores: Scores) -> None:
        if self.reset is not None and label in scores and self._collapsed(best(scores) == label, weight):
            self.growth += 10
            self.resets += 1
        u = exp2(self.growth)
        for j, value in x.items():
            self.counts[label][j] += u * (weight * value)
            self.totals[label] += u * (weight * value)
        self.events[label] += u * weight
        self.n += u * weight
        self.growth += self.rate

    def _collapsed(self, hit: bool, weight: float) -> bool:
        assert self.reset is not None
        self.late_hits, self.late = (
            0.995 * self.late_hits + hit * weight,
            0.995 * self.late + weight,
        )
        self.long_hits, self.long = 0.9995 * self.long_hits + hit * weight, 0.9995 * self.long + weight
        if self.long <= 300 or self.late_hits * self.long >= self.reset * self.long_hits * self.late:
            return False
        self.long_hits, self.long = self.late_hits, self.late
        return True


class NaiveRace:
    """The second of two learners answers while it has been clearly better."""

    def __init__(self) -> None:
        self.lead = self.squares = 0.0

    @property
    def second_answers(self) -> bool:
        return self.lead > sqrt(self.squares)

    def count(self, first: Scores, second: Scores, label: str, weight: float) -> None:
        if label in first and len(first) > 1:
            gain = weight * (self.loss(first, label) - self.loss(second, label))
            self.lead += gain
            self.squares += gain * gain

    @staticmethod
    def loss(scores: Scores, label: str) -> float:
        """The log loss of scores that are scaled to a standard deviation of 1."""
        n, top = len(scores), max(scores.values())
        mean = _sum(score / n for score in scores.values())
        variance = _sum((score - mean) * (score - mean) / n for score in scores.values())
        if variance == 0:
            return log(n)
        total = _sum(exp((score - top) / sqrt(variance)) for score in scores.values())
        return log(total) - (scores[label] - top) / sqrt(variance)


class NaiveSoftCounts(Naive):
    """A naive Bayes from labels alone, and one for each cap; races decide which of them answers."""

    def __init__(
        self,
        unlabelled: Iterable[float],
        alpha: float = 0.3,
        smoothing: str = "prior",
        half_life: float | None = None,
        reset: float | None = None,
    ) -> None:
        super().__init__()
        self.caps = list(unlabelled)
        self.watch = NaiveNaiveBayes(reset=reset)
        self.models = [NaiveNaiveBayes(alpha, smoothing, half_life) for _ in range(1 + len(self.caps))]
        self.soft_events: list[dict[str, float]] = [defaultdict(float) for _ in self.caps]
        self.races = [NaiveRace() for _ in self.caps]
        self.own: list[Scores] = []

    def step(self, x: Features, label: str | None, weight: float = 1.0) -> Scores:
        scores = super().step(x, label, weight)
        if label is None and weight > 0 and self.labels:
            self.seen.update(x)
            for model, cap, soft_events, own in zip(
                self.models[1:], self.caps, self.soft_events, self.own[1:], strict=True
            ):
                self._add(model, cap, soft_events, own, x, weight)
        return scores

    def start_with(self, labels: Iterable[str], occurrences: Mapping[tuple[int, str], float]) -> None:
        super().start_with(labels, occurrences)
        for model in self.models:
            model.start_with(labels, occurrences)

    def occurred(self, j: int, k: str, strength: float) -> None:
        """Each of the models counts it."""

    def scores(self, x: Features) -> Scores:
        for model in self.models:
            model.labels, model.seen = self.labels, self.seen
        self.own = [model.scores(x) for model in self.models]
        answering = 0
        unverified = self.models[0].n == 0
        while answering < len(self.races) and (unverified or self.races[answering].second_answers):
            answering += 1
        return self.own[answering]

    def learn(self, x: Features, label: str, weight: float, scores: Scores) -> None:
        for race, first, second in zip(self.races, self.own, self.own[1:], strict=False):
            race.count(first, second, label, weight)
        collapsed = self.watch.reset is not None and label in scores
        if collapsed and self.watch._collapsed(best(scores) == label, weight):
            self.watch.resets += 1
            for model in self.models:
                model.growth += 10
        for model in self.models:
            model.learn(x, label, weight, scores)

    @staticmethod
    def _add(
        model: NaiveNaiveBayes, cap: float, soft_events: dict[str, float], own: Scores, x: Features, weight: float
    ) -> None:
        u, top = exp2(model.growth), max(own.values())
        total = _sum(exp(score - top) for score in own.values())
        for k, score in own.items():
            q, room = exp(score - top) / total, cap * model.events[k]
            if q > 1e-6:
                part = 1.0 if soft_events[k] <= room else room / soft_events[k]
                share = u * (weight * q) * (part if model.n else 0.1)
                soft_events[k] += share
                for j, value in x.items():
                    model.counts[k][j] += share * value
                    model.totals[k] += share * value


class Linear(Naive):
    """Weights and a bias for each label, both rounded to float32."""

    def __init__(self) -> None:
        super().__init__()
        self.weights: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        self.bias: dict[str, float] = defaultdict(float)

    first_step = 1.0
    """For a text that is one word, at a loss of 1."""

    def occurred(self, j: int, k: str, strength: float) -> None:
        self.weights[k][j] = rounded(self.first_step * strength)

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


class Mean(Linear):
    """Scores by the mean of the weights over time. Sums are never scaled down: the increment keeps growing."""

    def __init__(self, half_life: float | None = None) -> None:
        super().__init__()
        self.rate = 0.0 if half_life is None else 1.0 / half_life
        self.sums: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        self.bias_sums: dict[str, float] = defaultdict(float)
        self.clock = self.growth = 0.0

    def current(self, x: Features) -> Scores:
        return super().scores(x)

    def scores(self, x: Features) -> Scores:
        current, t = self.current(x), self.clock or 1.0
        return {k: current[k] - (self.bias_sums[k] + _dot(x, self.sums[k])) / t for k in current}

    def add(self, step: float, x: Features, k: str) -> None:
        super().add(step, x, k)
        for j, value in x.items():
            self.sums[k][j] += step * self.clock * value
        self.bias_sums[k] += step * self.clock

    def advance(self) -> None:
        self.clock += 2.0**self.growth
        self.growth += self.rate


class NaiveAveragedPerceptron(Mean):
    def learn(self, x: Features, label: str, weight: float, scores: Scores) -> None:
        if not scores.keys() - {label}:
            return
        current = self.current(x)
        guess = best({k: current[k] for k in scores})
        if guess is not None and guess != label:
            self.add(weight, x, label)
            self.add(-weight, x, guess)
        self.advance()


def passive_aggressive_step(
    C: float, variant: int, x: Features, label: str, weight: float, scores: Scores
) -> tuple[float, str] | None:
    """The step, 0 without loss, and the rival; None if there is no rival."""
    rival = best({k: score for k, score in scores.items() if k != label})
    if rival is None:
        return None
    loss = max(0.0, 1 + scores[rival] - scores.get(label, 0.0))
    squared_norm = 1 + _squared_length(x)
    if variant == 1:
        return weight * min(C, loss / (2 * squared_norm)), rival
    return weight * (loss / (2 * squared_norm + 1 / (2 * C))), rival


class NaivePassiveAggressive(Linear):
    def __init__(self, C: float = 0.1, variant: int = 1) -> None:
        super().__init__()
        self.C, self.variant = C, variant
        self.first_step = min(C, 1 / 4) if variant == 1 else 1 / (4 + 0.5 / C)

    def learn(self, x: Features, label: str, weight: float, scores: Scores) -> None:
        found = passive_aggressive_step(self.C, self.variant, x, label, weight, scores)
        if found is not None and found[0] > 0:
            self.add(found[0], x, label)
            self.add(-found[0], x, found[1])


class NaiveAveragedPassiveAggressive(Mean):
    def __init__(self, C: float = 0.1, variant: int = 1, half_life: float | None = None) -> None:
        super().__init__(half_life)
        self.C, self.variant = C, variant
        self.first_step = min(C, 1 / 4) if variant == 1 else 1 / (4 + 0.5 / C)

    def learn(self, x: Features, label: str, weight: float, scores: Scores) -> None:
        current = self.current(x)
        current = {k: current[k] for k in scores}
        found = passive_aggressive_step(self.C, self.variant, x, label, weight, current)
        if found is None:
            return
        if found[0] > 0:
            self.add(found[0], x, label)
            self.add(-found[0], x, found[1])
        self.advance()


class NaiveArow(Linear):
    def __init__(self, r: float = 10.0, normalize: bool = False) -> None:
        super().__init__()
        self.r, self.normalize = r, normalize
        self.first_step = 1 / (4 + r)
        self.precisions: dict[int, float] = defaultdict(float)
        self.bias_precision = 0.0

    def scores(self, x: Features) -> Scores:
        scale = _scale_to_one(x) if self.normalize else 1.0
        return {k: self.bias[k] + scale * _dot(x, self.weights[k]) for k in self.labels}

    def learn(self, x: Features, label: str, weight: float, scores: Scores) -> None:
        scale = _scale_to_one(x) if self.normalize else 1.0
        x = {j: scale * value for j, value in x.items()}
        rival = best({k: score for k, score in scores.items() if k != label})
        if rival is None or (loss := 1 + scores[rival] - scores.get(label, 0.0)) <= 0:
            return
        variance = _sum(
            [
                2 / (1 + self.bias_precision),
                *(2 * value * value / (1 + self.precisions[j]) for j, value in x.items()),
            ]
        )
        step = weight * (loss / (variance + self.r))
        for k, signed in ((label, step), (rival, -step)):
            for j, value in x.items():
                change = signed * value / (1 + self.precisions[j])
                self.weights[k][j] = rounded(self.weights[k][j] + change)
            self.bias[k] = rounded(self.bias[k] + signed / (1 + self.bias_precision))
        for j, value in x.items():
            self.precisions[j] += weight * value * value / self.r
        self.bias_precision += weight / self.r


class NaiveAdagrad(Linear):
    """Logistic regression."""

    damping, least_error = 0.0, 0.0

    def __init__(self, eta: float = 0.45, epsilon: float = 1e-10, normalize: bool = True) -> None:
        super().__init__()
        self.eta, self.epsilon, self.normalize = eta, epsilon, normalize
        self.first_step = eta
        self.squares: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        self.bias_squares: dict[str, float] = defaultdict(float)

    def scores(self, x: Features) -> Scores:
        scale = self._scale(x)
        return {k: self.bias[k] + scale * _dot(x, self.weights[k]) for k in self.labels}

    def errors(self, label: str, scores: Scores) -> Scores:
        return log_errors(label, scores)

    def learn(self, x: Features, label: str, weight: float, scores: Scores) -> None:
        if not scores.keys() - {label}:
            return
        scale, errors = self._scale(x), self.errors(label, scores)
        if _sum(error * error for error in errors.values()) < self.least_error:
            return
        for k, error in errors.items():
            for j, value in x.items():
                self.weights[k][j], self.squares[k][j] = self._stepped(
                    self.weights[k][j], self.squares[k][j], weight * error, scale * value
                )
            self.bias[k], self.bias_squares[k] = self._stepped(self.bias[k], self.bias_squares[k], weight * error, 1.0)

    def _stepped(self, w: float, squares: float, error: float, x: float) -> tuple[float, float]:
        squares += error * x * (error * x)
        return rounded(w - self.eta * (error * x) / sqrt(squares + self._added(x))), squares

    def _added(self, x: float) -> float:
        return self.epsilon + self.damping * (x * x)

    def _scale(self, x: Features) -> float:
        return _scale_to_one(x) if self.normalize else 1.0


class NaiveLogisticRegression(NaiveAdagrad):
    def __init__(
        self,
        eta: float = 0.45,
        epsilon: float = 1e-10,
        normalize: bool = True,
        squares: str = "weight",
        damping: float | None = None,
        least_error: float | None = None,
    ) -> None:
        super().__init__(eta, epsilon, normalize)
        self.damping, self.least_error = damping or 0.0, least_error or 0.0
        self.first_step = eta / sqrt(1 + self.damping)
        self.by_feature = squares == "feature"
        self.feature_squares: dict[int, float] = defaultdict(float)
        self.bias_square = 0.0

    def learn(self, x: Features, label: str, weight: float, scores: Scores) -> None:
        if not self.by_feature:
            super().learn(x, label, weight, scores)
        elif scores.keys() - {label}:
            scale = self._scale(x)
            plain = self.errors(label, scores)
            if _sum(error * error for error in plain.values()) < self.least_error:
                return
            errors = {k: weight * error for k, error in plain.items()}
            squared = _sum(error * error for error in errors.values())
            for j, value in x.items():
                self.feature_squares[j] += squared * (scale * value * (scale * value))
                step = self.eta * (scale * value) / sqrt(self.feature_squares[j] + self._added(scale * value))
                for k, error in errors.items():
                    self.weights[k][j] = rounded(self.weights[k][j] - step * error)
            self.bias_square += squared
            step = self.eta / sqrt(self.bias_square + self._added(1.0))
            for k, error in errors.items():
                self.bias[k] = rounded(self.bias[k] - step * error)


class NaiveHinge(NaiveAdagrad):
    def errors(self, label: str, scores: Scores) -> Scores:
        return hinge_errors(label, scores)


class NaiveSGD(Linear):
    """All weights are shrunk at every step, one by one."""

    def __init__(
        self, loss: str = "log", rate: str = "constant", eta: float = 0.5, l2: float = 0.0, normalize: bool = True
    ) -> None:
        super().__init__()
        self.loss, self.rate, self.eta, self.l2, self.normalize = loss, rate, eta, l2, normalize
        self.first_step = eta
        self.clock = 0

    def scores(self, x: Features) -> Scores:
        scale = _scale_to_one(x) if self.normalize else 1.0
        return {k: self.bias[k] + scale * _dot(x, self.weights[k]) for k in self.labels}

    def learn(self, x: Features, label: str, weight: float, scores: Scores) -> None:
        if not scores.keys() - {label}:
            return
        self.clock += 1
        t = self.clock
        rates = {"constant": self.eta, "inverse": self.eta / t, "inverse_sqrt": self.eta / sqrt(t)}
        rates["bottou"] = self.eta / (1 + self.eta * self.l2 * (t - 1))
        step = rates[self.rate] if self.rate in rates else 1 / (self.l2 * t)
        if self.l2 > 0:
            for row in self.weights.values():
                for j in row:
                    row[j] *= max(0.0, 1 - step * self.l2)
        errors = {"log": log_errors, "hinge": hinge_errors, "perceptron": perceptron_errors}[self.loss]
        scale = _scale_to_one(x) if self.normalize else 1.0
        for k, error in errors(label, scores).items():
            change = -(step * weight) * error
            for j, value in x.items():
                moved = self.weights[k][j] + change * (scale * value)
                self.weights[k][j] = moved if self.l2 else rounded(moved)
            self.bias[k] = rounded(self.bias[k] + change)


def log_errors(label: str, scores: Scores) -> Scores:
    """p_k - [k = y]; a label that the event itself brings has score 0."""
    errors = softmax(scores | {label: scores.get(label, 0.0)})
    errors[label] -= 1
    return errors


def hinge_errors(label: str, scores: Scores) -> Scores:
    rival = best({k: score for k, score in scores.items() if k != label})
    assert rival is not None
    return {label: -1.0, rival: 1.0} if 1 - scores.get(label, 0.0) + scores[rival] > 0 else {}


def perceptron_errors(label: str, scores: Scores) -> Scores:
    guess = best(scores)
    assert guess is not None
    return {label: -1.0, guess: 1.0} if guess != label else {}


def _scale_to_one(x: Features) -> float:
    length = sqrt(_squared_length(x))
    return 1 / length if length > 0 else 1.0


def softmax(scores: Scores) -> Scores:
    """The softmax of the labels' scores."""
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
