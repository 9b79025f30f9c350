"""The confidence interval of a share."""

from math import sqrt

Z_95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""


def wilson(correct: float, n: float, z: float = Z_95) -> tuple[float, float] | None:
    """The interval of the true share, given `correct` of `n`; None for n = 0.

    Wilson, JASA 22 (1927) 209-212::

        (p + z^2/2n ± z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)
    """
    if n == 0:
        return None
    share, spread = correct / n, z * z / n
    centre = share + spread / 2
    margin = z * sqrt(share * (1 - share) / n + spread / (4 * n))
    # The ends at 0 and 1 are exact; rounding would leave 4.9e-17.
    low = 0.0 if correct == 0 else (centre - margin) / (1 + spread)
    high = 1.0 if correct == n else (centre + margin) / (1 + spread)
    return low, high
