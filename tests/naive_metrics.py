"""The measures in plain Python, one event at a time, as their docstrings define them.

Labels are any values; None is no label, or an abstention. Weights of labelled events are above 0.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from math import exp, floor, isnan, log, nan, sqrt
from typing import Any

Label = Hashable


@dataclass
class Hit:
    """A labelled event as a measure sees it."""

    hit: bool
    weight: float


@dataclass
class NaiveAccuracy:
    """One predictor's running, window and fading accuracy."""

    window: int = 1000
    fading: float = 0.999
    hits: list[Hit] = field(default_factory=list)
    abstained: int = 0
    fading_hits: float = 0.0
    fading_weights: float = 0.0

    def count(self, predicted: Label | None, label: Label | None, weight: float = 1.0) -> None:
        if label is None:
            return
        hit = predicted == label
        self.hits.append(Hit(hit, weight))
        self.abstained += predicted is None
        self.fading_hits = weight * hit + self.fading * self.fading_hits
        self.fading_weights = weight + self.fading * self.fading_weights

    @property
    def correct(self) -> int:
        return sum(event.hit for event in self.hits)

    @property
    def running(self) -> float | None:
        return _share(self.hits)

    @property
    def windowed(self) -> float | None:
        return _share(self.hits[-self.window :])

    @property
    def faded(self) -> float | None:
        return self.fading_hits / self.fading_weights if self.hits else None


def _share(hits: Sequence[Hit]) -> float | None:
    total = 0.0
    for event in hits:
        total += event.weight
    return hit_weight(hits) / total if hits else None


def hit_weight(hits: Sequence[Hit]) -> float:
    """Sum of w h, added in the events' order."""
    total = 0.0
    for event in hits:
        total += event.weight * event.hit
    return total


def majority(labels: Sequence[Label | None], weights: Sequence[float]) -> list[Label | None]:
    """For each event the label of the largest weight before it; ties go to the label seen first."""
    sums: dict[Label, float] = {}
    predicted = []
    for label, weight in zip(labels, weights, strict=True):
        predicted.append(max(sums, key=sums.__getitem__, default=None))
        if label is not None:
            sums[label] = sums.get(label, 0.0) + weight
    return predicted


def no_change(labels: Sequence[Label | None]) -> list[Label | None]:
    """For each event the last label before it."""
    predicted: list[Label | None] = []
    last = None
    for label in labels:
        predicted.append(last)
        last = label if label is not None else last
    return predicted


def leads(
    predicted: Sequence[Sequence[Label | None]], labels: Sequence[Label | None], weights: Sequence[float]
) -> list[int]:
    """For each event the number of the predictor with the best running accuracy before it; ties go to the first."""
    sums = [0.0] * len(predicted)
    chosen = []
    for i, (label, weight) in enumerate(zip(labels, weights, strict=True)):
        chosen.append(sums.index(max(sums)))
        if label is not None:
            sums = [total + weight * (own[i] == label) for total, own in zip(sums, predicted, strict=True)]
    return chosen


def confusion(
    predicted: Sequence[Label | None], labels: Sequence[Label | None], order: Sequence[Label], limit: int
) -> dict[Label, dict[Label, int]]:
    """True label -> predicted label -> events; what is behind the first `limit` labels of `order` is `(other)`."""
    shown: dict[Label | None, Label] = {label: label if i < limit else "(other)" for i, label in enumerate(order)}
    shown[None] = "(abstained)"
    pairs = Counter((shown[y], shown[guess]) for guess, y in zip(predicted, labels, strict=True) if y is not None)
    table: dict[Label, dict[Label, int]] = defaultdict(dict)
    for (row, column), count in pairs.items():
        table[row][column] = count
    return dict(table)


def slices(
    values: Sequence[str | None],
    predicted: Sequence[Sequence[Label | None]],
    labels: Sequence[Label | None],
    weights: Sequence[float],
    limit: int,
) -> dict[str, tuple[int, list[float]]]:
    """Value -> labelled events, and each predictor's accuracy among them; values after the first `limit` together."""
    kept = list(dict.fromkeys(value for value in values if value is not None))[:limit]
    hits: dict[str, list[list[Hit]]] = defaultdict(lambda: [[] for _ in predicted])
    for i, (value, label) in enumerate(zip(values, labels, strict=True)):
        if value is not None and label is not None:
            for own, guesses in zip(hits[value if value in kept else "(other)"], predicted, strict=True):
                own.append(Hit(guesses[i] == label, weights[i]))
    return {value: (len(own[0]), [_share(events) or 0.0 for events in own]) for value, own in hits.items()}


def wilson(correct: int, n: int, z: float) -> tuple[float, float]:
    """The shares p at which correct/n lies z standard deviations of p off: (correct/n - p)^2 = z^2 p (1 - p) / n."""
    with localcontext() as exact:
        exact.prec = 60  # in floats the discriminant would lose all its digits
        share, spread = Decimal(correct) / n, Decimal(z) ** 2 / n
        a, b, c = 1 + spread, -(2 * share + spread), share * share
        root = (b * b - 4 * a * c).sqrt()
        return float((-b - root) / (2 * a)), float((-b + root) / (2 * a))


def best(scores: Sequence[float]) -> int | None:
    """The number of the highest score, the first of several; None where all are -inf."""
    top = max(scores, default=-float("inf"))
    return None if top == -float("inf") else list(scores).index(top)


def softmax(scores: Sequence[float]) -> list[float]:
    """exp(s_k) / sum exp(s)."""
    top = max(scores)
    powers = [exp(score - top) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


@dataclass
class Sure:
    """A labelled event as calibration sees it: the top label's probability, NaN for an abstention."""

    confidence: float
    hit: bool
    weight: float
    log_loss: float
    brier: float


@dataclass
class NaiveCalibration:
    """One learner's probabilities, the temperature they have, and how good they are."""

    calibrated: bool = False
    window: int = 1000
    fading: float = 0.999
    t: float = 0.0
    squares: float = 0.0
    spread: float = 0.0
    seen: float = 0.0
    events: list[Sure] = field(default_factory=list)

    def probabilities(self, scores: Sequence[float]) -> list[float]:
        return softmax(scores if self.calibrated else self._scaled(scores))

    def count(self, scores: Sequence[float], label: int | None, weight: float = 1.0) -> float:
        """Measure, then learn from, an event's scores of its candidates, 0, 1, …; the top label's probability."""
        p = self.probabilities(scores) if scores else []
        confidence = max(p, default=nan)
        if label is None:
            return confidence
        candidate = label < len(p)
        squares = [(share - (k == label)) ** 2 for k, share in enumerate(p)]
        own = p[label] if candidate else 0.0
        hit = best(scores) == label
        self.events.append(Sure(confidence, hit, weight, -log(max(own, 1e-15)), sum(squares) + (not candidate)))
        if candidate and len(p) > 1:
            self._learn(scores, p, label, weight)
        return confidence

    def _scaled(self, scores: Sequence[float]) -> list[float]:
        scale = self.spread / self.seen if self.spread > 0 else _variance(scores)
        factor = exp(self.t) / sqrt(scale) if scale > 0 else 1.0
        mean = sum(scores) / len(scores)
        return [factor * (score - mean) for score in scores]

    def _learn(self, scores: Sequence[float], p: Sequence[float], label: int, weight: float) -> None:
        z = self._scaled(scores)
        slope = weight * sum((share - (k == label)) * z[k] for k, share in enumerate(p))
        self.squares = 0.998 * self.squares + slope**2
        self.t -= 0.1 * slope / sqrt(self.squares + 1e-12)
        self.spread = 0.999 * self.spread + weight * _variance(scores)
        self.seen = 0.999 * self.seen + weight

    @property
    def report(self) -> dict[str, Any]:
        last = len(self.events) - 1
        faded = [replace(event, weight=event.weight * self.fading ** (last - i)) for i, event in enumerate(self.events)]
        spans = {"": self.events, "window_": self.events[-self.window :], "fading_": faded}
        row = {f"{span}{key}": value for span, events in spans.items() for key, value in _losses(events).items()}
        return row | {"reliability": [_reliability(events) for events in _in_bins(self.events)]}


def _losses(events: Sequence[Sure]) -> dict[str, Any]:
    gaps, weights = [], []
    for own in _in_bins(events):
        weights.append(sum(event.weight for event in own))
        if own:
            bin_ = _reliability(own)
            gaps.append(abs(bin_["confidence"] - bin_["accuracy"]) * weights[-1])
    return {
        "log_loss": _mean([event.log_loss for event in events], events),
        "brier": _mean([event.brier for event in events], events),
        "ece": sum(gaps) / sum(weights) if gaps else None,
    }


def _in_bins(events: Sequence[Sure]) -> list[list[Sure]]:
    sure = [event for event in events if not isnan(event.confidence)]
    return [[event for event in sure if min(floor(10 * event.confidence), 9) == b] for b in range(10)]


def _reliability(events: Sequence[Sure]) -> dict[str, Any]:
    return {
        "events": len(events),
        "confidence": _mean([event.confidence for event in events], events),
        "accuracy": _mean([event.hit for event in events], events),
    }


def _variance(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / len(values)


def _mean(values: Sequence[float], events: Sequence[Sure]) -> Any:
    total = sum(event.weight for event in events)
    return sum(event.weight * value for value, event in zip(values, events, strict=True)) / total if events else None


def prediction_line(
    event_id: str | None,
    position: str,
    names: Sequence[str],
    predicted: Sequence[str | None],
    lead: int,
    confidence: float,
    label: str | None,
) -> dict[str, Any]:
    """What a prediction line says."""
    line: dict[str, Any] = {"id": event_id} if event_id is not None else {"position": position}
    line["predicted"] = predicted[lead]
    line["confidence"] = None if isnan(confidence) else floor(confidence * 1e6 + 0.5) / 1e6
    line["learners"] = dict(zip(names, predicted, strict=True))
    return line if label is None else line | {"label": label}
