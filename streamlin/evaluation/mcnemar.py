"""McNemar's test: whether one of two predictors is better, or was luckier.

McNemar, Psychometrika 12 (1947) 153-157; Dietterich, Neural Computation 10 (1998) 1895-1923, for its use on learners.
"""

from math import comb, erfc, sqrt

EXACT_BELOW = 25
SIGNIFICANT = 0.05


def mcnemar(first: int, second: int) -> float:
    """The probability of counts at least as uneven if neither predictor is better.

    first, second : events that only the first, and only the second, got right; the other events carry no information.

    With n = first + second, and m the smaller of them::

        n < 25    min(1, 2 sum_{i <= m} C(n, i) / 2^n)                 exact, two-sided
        else      P(chi^2_1 >= (|first - second| - 1)^2 / n)           with continuity correction
                  = erfc(sqrt(chi^2 / 2))
    """
    n = first + second
    if n < EXACT_BELOW:
        return min(1.0, 2 * sum(comb(n, i) for i in range(min(first, second) + 1)) / (1 << n))
    return erfc(max(0, abs(first - second) - 1) / sqrt(2 * n))
