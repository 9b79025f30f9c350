"""Whose label is asked for: the first events, the most uncertain ones, and some at random.

With the budget b, of the n-th event, n = 0, 1, …, whose label can be asked for::

    n < 20                                 asked
    uncertain, and the budget allows it    asked;   margin <= the lowest share q of the last 500 margins
    the event drawn from its block         asked;   blocks of m = ceil(1 / (b / 5)) events, from the 21st event on

    left = ceil(b (n + 1)) + 20 - asked before     "the budget allows it": left > 2
    q    = (b - 1/m) / (1 - 1/m) + (left - 2) / 500

The margin is how far the leading learner's highest probability is ahead of its second. A block's event is drawn from
the number of the block alone, so each event of it is drawn with probability 1/m exactly. The probability of asking is 1
for the first events and for uncertain ones, which depend only on what came before, and 1/m for all others: never 0, so
that metrics weighted by 1/probability stand for all events. Two asks are kept back for the draws, so the number asked
never exceeds ceil(b n) + 20.

Horvitz, Thompson, JASA 47 (1952) 663-685, for the weights; Žliobaitė, Bifet, Pfahringer, Holmes, IEEE TNNLS 25 (2014)
27-39, for a budget that is kept along a stream, and for asking at random besides.
"""

from hashlib import blake2b
from math import ceil

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel

FIRST, UNCERTAIN, AT_RANDOM = 1, 2, 3
"""Why a label is asked for: it is one of the first; the leading learner is uncertain; it was drawn."""
AT_ONCE = 20
"""Events whose label is asked for at the start."""
RECENT = 500
"""Margins that the quantile is taken from."""
_DRAWN_SHARE = 0.2
"""Of the budget."""
_KEPT_BACK = 2
_EVENTS, _ASKED = 0, 1
ROUGH = 0.05
"""The budget below which the weighted metrics are rough."""


def block_size(budget: float) -> int:
    """m, the number of events of which one is drawn."""
    return ceil(1.0 / (_DRAWN_SHARE * budget))


def drawn_from(block: int, size: int) -> int:
    """Which event of a block is drawn, 0 to size - 1; by the block's number alone."""
    digest = blake2b(block.to_bytes(8, "little"), digest_size=8, person=b"streamlin ask").digest()
    return int.from_bytes(digest, "little") % size


@kernel
def decide(
    margins: NDArray[np.float64],
    budget: float,
    size: int,
    drawn: NDArray[np.int64],
    counts: NDArray[np.int64],
    recent: NDArray[np.float64],
    ordered: NDArray[np.float64],
    reasons: NDArray[np.int8],
    probabilities: NDArray[np.float64],
) -> None:
    """Decide for a batch of n events, event by event.

    margins [n], 0 to 1. size: m. drawn: which event is drawn of each block, beginning with that of the first event.
    counts int64[3], of which the first two are events and those asked; recent, ordered [RECENT], the last margins, as a
    ring and in order: changed in place. reasons int8[n], 0 for an event that is not asked; probabilities [n]: set.
    """
    chance = 1.0 / size
    share = (budget - chance) / (1.0 - chance)
    block = max(counts[_EVENTS] - AT_ONCE, 0) // size
    for i in range(margins.size):
        n = counts[_EVENTS]
        filled = min(n, RECENT)
        reasons[i], probabilities[i] = 0, chance
        if n < AT_ONCE:
            reasons[i], probabilities[i] = FIRST, 1.0
        else:
            left = np.ceil(budget * (n + 1)) + AT_ONCE - counts[_ASKED]
            quantile = int(np.ceil((share + (left - _KEPT_BACK) / RECENT) * filled))
            if left > _KEPT_BACK and (quantile >= filled or (quantile > 0 and margins[i] <= ordered[quantile - 1])):
                reasons[i], probabilities[i] = UNCERTAIN, 1.0
            elif (n - AT_ONCE) % size == drawn[(n - AT_ONCE) // size - block]:
                reasons[i] = AT_RANDOM
        remember(margins[i], n, recent, ordered)
        counts[_EVENTS] += 1
        counts[_ASKED] += reasons[i] > 0


@kernel
def remember(margin: float, n: int, recent: NDArray[np.float64], ordered: NDArray[np.float64]) -> None:
    """Replace the oldest of the margins, of which n came before, in both orders."""
    slot, end = n % recent.size, min(n, recent.size)
    if n >= recent.size:
        oldest = recent[slot]
        at = np.searchsorted(ordered, oldest)
        for place in range(at, end - 1):
            ordered[place] = ordered[place + 1]
        end -= 1
    recent[slot] = margin
    at = end
    while at > 0 and ordered[at - 1] > margin:
        ordered[at] = ordered[at - 1]
        at -= 1
    ordered[at] = margin
