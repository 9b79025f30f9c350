"""The mixture in plain Python, one event at a time, and of shards: the same must be computed, bit for bit."""

from collections import defaultdict
from collections.abc import Sequence
from copy import deepcopy
from math import exp, expm1, factorial, inf, ldexp, sqrt


class NaiveMixture:
    """Weights w, label weights v and temperatures t of M members, and the output's (a, b)."""

    def __init__(self, members: int, start: Sequence[float] = (), first_variances: Sequence[float] = ()) -> None:
        self.w, self.w_squares = [*start] or [1.5 / members] * members, [0.0] * members
        self.v: dict[tuple[int, int], float] = defaultdict(float)
        self.v_squares = [0.0] * members
        self.t, self.t_squares = [0.0] * members, [0.0] * members
        self.spreads, self.seen = [0.0] * members, 0.0
        self.first_variances = [*first_variances] or [inf] * members
        self.output, self.output_squares = [0.0, 0.0], [0.0, 0.0]
        self.events = 0

    def step(self, scores: Sequence[Sequence[float]], label: int, weight: float = 1.0) -> list[float]:
        """The scores of an event's known labels from those of the members; then learn it, unless label is -1."""
        n = len(scores[0])
        self.events += label >= 0
        if n == 0:
            return []
        centred, variances = self._centred(scores)
        pool = [_sum((self.w[m] + self.v[m, k]) * c[k] for m, c in enumerate(centred)) for k in range(n)]
        top = max(pool)
        pool = [z - top for z in pool]
        powers = [power(z) for z in pool]
        total = _sum(powers)
        sureness = 1 / total - 0.5
        temperature = exp(min(3.0, max(-3.0, self.output[0] + self.output[1] * sureness)))
        out = [temperature * z for z in pool]
        if label >= 0 and weight > 0:
            self.seen = 0.999 * self.seen + weight
            self.spreads = [0.999 * s + weight * q for s, q in zip(self.spreads, variances, strict=True)]
            if label < n and n > 1:
                slope = weight * temperature * (_expectation(out, pool) - pool[label])
                self._step(self.output, self.output_squares, 0, slope, 0.9995, 0.05)
                self._step(self.output, self.output_squares, 1, slope * sureness, 0.9995, 0.05)
                self._learn(centred, [weight * (power / total) for power in powers], label, weight)
        return out

    def _centred(self, scores: Sequence[Sequence[float]]) -> tuple[list[list[float]], list[float]]:
        """Each member's scores, centred, scaled and multiplied by its temperature; and their variances before that."""
        centred, variances = [], []
        for m, own in enumerate(scores):
            mean = _sum(own) / len(own)
            shifted = [score - mean for score in own]
            variances.append(_sum(c * c for c in shifted) / len(own))
            spread = self.spreads[m] / self.seen if self.spreads[m] > 0 else variances[m]
            if spread > self.first_variances[m]:
                early = max(0.0, 1.0 - (1.0 - 0.999) * self.seen)
                spread = early * self.first_variances[m] + (1.0 - early) * spread
            factor = exp(self.t[m]) / sqrt(spread) if spread > 0 else 1.0
            centred.append([c * factor for c in shifted])
        return centred, variances

    def _learn(self, centred: Sequence[Sequence[float]], errors: list[float], label: int, weight: float) -> None:
        slopes = [weight * (_expectation(c, c) - c[label]) for c in centred]
        errors[label] -= weight
        for m, c in enumerate(centred):
            gradients = [error * value for error, value in zip(errors, c, strict=True)]
            self.v_squares[m] = 0.998 * self.v_squares[m] + _sum(g * g for g in gradients)
            step = 0.02 / sqrt(self.v_squares[m] + 1e-12)
            for k, gradient in enumerate(gradients):
                self.v[m, k] -= step * gradient
            self._step(self.w, self.w_squares, m, _sum(gradients), 0.998, 0.05)
            self._step(self.t, self.t_squares, m, slopes[m], 0.998, 0.1)

    @staticmethod
    def _step(values: list[float], squares: list[float], i: int, gradient: float, fading: float, step: float) -> None:
        squares[i] = fading * squares[i] + gradient * gradient
        values[i] -= step * gradient / sqrt(squares[i] + 1e-12)


def mixed(before: NaiveMixture, after: Sequence[NaiveMixture]) -> NaiveMixture:
    """The mixture before a round, with what all shards, each of which has learned events, have changed."""
    common, n = deepcopy(before), len(after)
    events = [own.events - before.events for own in after]
    share = min(sqrt(1 / n), -expm1(-sum(events) / 150) / _sum(-expm1(-own / 150) for own in events))
    parameters = ("w", "t", "output")
    for own in after:
        common.seen += 1 / n * (own.seen - before.seen)
        for key in own.v:
            common.v[key] += share * (own.v[key] - before.v.get(key, 0.0))
        for name in (*parameters, "w_squares", "v_squares", "t_squares", "spreads", "output_squares"):
            factor = share if name in parameters else 1 / n
            of = zip(getattr(common, name), getattr(own, name), getattr(before, name), strict=True)
            setattr(common, name, [x + factor * (y - z) for x, y, z in of])
    return common


def _expectation(scores: Sequence[float], values: Sequence[float]) -> float:
    top = max(scores)
    powers = [power(score - top) for score in scores]
    return _sum(p * v for p, v in zip(powers, values, strict=True)) / _sum(powers)


def power(x: float) -> float:
    """The exponential of x, a power of 2 times a polynomial, as the kernels have it."""
    x = max(x, -700.0)
    m = round(x * 1.4426950408889634)
    r = (x - m * 0.6931471803691238) - m * 1.9082149292705877e-10
    p = 1 / factorial(11)
    for n in range(10, -1, -1):
        p = p * r + 1 / factorial(n)
    return ldexp(p, m)


def _sum(values: object) -> float:
    """From left to right, as the kernels do."""
    total = 0.0
    for value in values:  # type: ignore[attr-defined]
        total += value
    return total
