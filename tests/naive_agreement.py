"""Kappa, F1 and McNemar's test in plain Python, as their docstrings define them.

A judged event is its true label, what was said (None: nothing, or no label that was seen by then), and its weight.
"""

from collections.abc import Hashable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import comb, erfc, sqrt
from typing import Any

from tests.naive_metrics import Label

Judged = tuple[Hashable, Label | None, float]


def judged(predicted: Sequence[Label | None], labels: Sequence[Label | None], weights: Sequence[float]) -> list[Judged]:
    """The labelled events; what is said of a label that comes later is as good as nothing."""
    seen: set[Label] = set()
    events = []
    for guess, label, weight in zip(predicted, labels, weights, strict=True):
        if label is not None:
            seen.add(label)
            events.append((label, guess if guess in seen else None, weight))
    return events


def faded(events: Sequence[Judged], fading: float) -> list[Judged]:
    """Each event's weight as it counts after the last one."""
    n = len(events)
    return [(label, guess, weight * fading ** (n - 1 - i)) for i, (label, guess, weight) in enumerate(events)]


def spans(events: Sequence[Judged], window: int, fading: float) -> dict[str, Sequence[Judged]]:
    """All events, the last ones, and all with weights that have faded."""
    return {"": events, "window_": events[-window:], "fading_": faded(events, fading)}


def accuracy(events: Sequence[Judged]) -> float:
    return sum(w for label, guess, w in events if guess == label) / sum(w for _, _, w in events)


def kappa(events: Sequence[Judged], chance: float | None = None) -> float | None:
    """Of the events' accuracy against chance's, Cohen's if none is given; 0 where chance is always right."""
    if not events:
        return None
    if chance is None:
        total = sum(w for _, _, w in events)
        labels = {label for label, _, _ in events}
        said = {k: sum(w for _, guess, w in events if guess == k) / total for k in labels}
        chance = sum(said[k] * sum(w for label, _, w in events if label == k) / total for k in labels)
    return 0.0 if 1 - chance < 1e-9 else (accuracy(events) - chance) / (1 - chance)


def by_label(events: Sequence[Judged], labels: Sequence[Label]) -> dict[Label, dict[str, float]]:
    """Label -> precision, recall, F1; 0 where there is nothing to divide by."""
    rows = {}
    for k in labels:
        hits = sum(w for label, guess, w in events if label == guess == k)
        said, true = sum(w for _, guess, w in events if guess == k), sum(w for label, _, w in events if label == k)
        precision, recall = hits / said if said else 0.0, hits / true if true else 0.0
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        rows[k] = {"precision": precision, "recall": recall, "f1": f1}
    return rows


def by_label_over_spans(
    events: Sequence[Judged], labels: Sequence[Label], window: int, fading: float
) -> dict[Label, dict[str, float]]:
    """The same over all events, over the last ones and fading."""
    tables = {span: by_label(own, labels) for span, own in spans(events, window, fading).items()}
    return {
        k: {f"{span}{key}": value for span, rows in tables.items() for key, value in rows[k].items()} for k in labels
    }


def mean_f1(events: Sequence[Judged]) -> tuple[float | None, float | None]:
    """Macro F1, over the labels that are true or said, and weighted F1."""
    if not events:
        return None, None
    there = sorted({label for label, _, _ in events} | {guess for _, guess, _ in events if guess is not None}, key=repr)
    f1 = {k: row["f1"] for k, row in by_label(events, there).items()}
    total = sum(w for _, _, w in events)
    return sum(f1.values()) / len(there), sum(w * f1[label] for label, _, w in events) / total


def agreement(
    events: Sequence[Judged], majority: Sequence[Judged], no_change: Sequence[Judged], window: int, fading: float
) -> dict[str, Any]:
    """All kappas and mean F1 of a predictor, beside those that read no text."""
    row: dict[str, Any] = {}
    most, last = spans(majority, window, fading), spans(no_change, window, fading)
    for span, own in spans(events, window, fading).items():
        row[f"{span}kappa"] = kappa(own)
        row[f"{span}kappa_m"] = kappa(own, accuracy(most[span]) if own else None)
        row[f"{span}kappa_temporal"] = kappa(own, accuracy(last[span]) if own else None)
        row[f"{span}macro_f1"], row[f"{span}weighted_f1"] = mean_f1(own)
    return row


def label_shares(events: Sequence[Judged], names: Sequence[Label], window: int) -> dict[Label, dict[str, float]]:
    """Label -> share of the weight, of all events and of the last ones."""
    return {
        name: {
            f"{span}share": sum(w for label, _, w in part if label == name) / sum(w for _, _, w in part)
            for span, part in (("", events), ("window_", events[-window:]))
        }
        for name in names
    }


def discordant(first: Sequence[Judged], second: Sequence[Judged]) -> tuple[int, int]:
    """Events where only the first, only the second was right."""
    hits = [(a[1] == a[0], b[1] == b[0]) for a, b in zip(first, second, strict=True)]
    return hits.count((True, False)), hits.count((False, True))


def mcnemar(first: int, second: int) -> float:
    """Exactly up to 24; then by the normal distribution, whose square is chi-squared."""
    n = first + second
    if n < 25:
        tail = sum(Fraction(comb(n, i), 2**n) for i in range(min(first, second) + 1))
        return float(min(Fraction(1), 2 * tail))
    chi_squared = Decimal(max(0, abs(first - second) - 1)) ** 2 / n
    return erfc(sqrt(chi_squared / 2))
