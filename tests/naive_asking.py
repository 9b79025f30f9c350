"""Whose label is asked for, in plain Python, as `streamlin.asking.decisions` defines it, on lists of events."""

from math import ceil

from streamlin.asking.decisions import AT_RANDOM, FIRST, UNCERTAIN, drawn_from, uniform


def decisions(margins: list[float], budget: float) -> list[tuple[int, float]]:
    """For each event the reason to ask for its label, 0 for none, and the probability of asking."""
    m, numbers = ceil(1 / (0.2 * budget)), uniform(0, len(margins)).tolist()
    found: list[tuple[int, float]] = []
    for n, margin in enumerate(margins):
        if n < 20:
            found.append((FIRST, 1.0))
            continue
        left = ceil(budget * (n + 1)) + 20 - sum(reason > 0 for reason, _ in found)
        last = sorted(margins[max(0, n - 500) : n])
        wanted = ((budget - 1 / m) / (1 - 1 / m) + (left - 2) / 500) * len(last)
        likely = chance(margin, wanted, last) if left > 2 else 0.0
        block, place = divmod(n - 20, m)
        drawn = AT_RANDOM if place == drawn_from(block, m) else 0
        found.append((UNCERTAIN if numbers[n] < likely else drawn, likely + (1 - likely) * (1 / m)))
    return found


def chance(margin: float, wanted: float, last: list[float]) -> float:
    """min(1, c d), with c so that the sum of that over the last margins is what is wanted; 1 if it can't be."""
    doubts = [doubt(other) for other in last]
    for certain, most in enumerate(doubts):  # the first of them are at 1
        total = 0.0
        for other in reversed(doubts[certain:]):
            total += other
        if (wanted - certain) * most <= total:
            return min(1.0, (wanted - certain) / total * doubt(margin))
    return 1.0


def doubt(margin: float) -> float:
    return (1 - margin) * (1 - margin) * (1 - margin) + 1e-12
