"""The measures in plain Python, one event at a time, as their docstrings define them.

Labels are any values; None is no label, or an abstention. Weights of labelled events are above 0.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from math import exp, floor, isnan
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


def softmax(scores: Sequence[float], k: int) -> float:
    """exp(s_k) / sum exp(s)."""
    return 1 / sum(exp(score - scores[k]) for score in scores)


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
