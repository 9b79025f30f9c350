"""Whose label is asked for, in plain Python, as `streamlin.asking.decisions` defines it, on lists of events."""

from math import ceil

from streamlin.asking.decisions import AT_RANDOM, FIRST, UNCERTAIN, drawn_from


def decisions(margins: list[float], budget: float) -> list[tuple[int, float]]:
    """For each event the reason to ask for its label, 0 for none, and the probability of asking."""
    m = ceil(1 / (0.2 * budget))
    found: list[tuple[int, float]] = []
    for n, margin in enumerate(margins):
        if n < 20:
            found.append((FIRST, 1.0))
            continue
        left = ceil(budget * (n + 1)) + 20 - sum(reason > 0 for reason, _ in found)
        last = sorted(margins[max(0, n - 500) : n])
        share = (budget - 1 / m) / (1 - 1 / m) + (left - 2) / 500
        lowest = last[: ceil(share * len(last))]
        certain_above = 2.0 if len(lowest) == len(last) else max(lowest, default=-1.0)
        if left > 2 and margin <= certain_above:
            found.append((UNCERTAIN, 1.0))
        else:
            block, place = divmod(n - 20, m)
            found.append((AT_RANDOM if place == drawn_from(block, m) else 0, 1 / m))
    return found
