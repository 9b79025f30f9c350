"""Whose label is asked for: the first events, doubtful ones, and some at random.

With the budget b, of the n-th event, n = 0, 1, …, whose label can be asked for::

    n < 20                                asked
    u_n < q_n                             asked, since it is doubtful
    the event drawn from its block        asked;   blocks of m = ceil(1 / (b / 5)) events, from the 21st event on

    left = ceil(b (n + 1)) + 20 - asked before
    q_n  = min(1, c d_n), or 0 unless left > 2;   d_n = (1 - margin)^3 + 1e-12
    sum of min(1, c d) over the last 500 events = 500 ((b - 1/m) / (1 - 1/m) + (left - 2) / 500)

The margin is how far the leading learner's highest probability is ahead of its second; d_n is the event's doubt. u_n is
uniform in [0, 1), from the number of the event alone, and a block's event is drawn from the number of the block alone.
So the probability of asking is known: 1 for the first events, q_n + (1 - q_n) / m for all others. It is never 0, so
that metrics weighted by 1/probability stand for all events. Two asks are kept back for the draws, so the number asked
never exceeds ceil(b n) + 20.

Horvitz, Thompson, JASA 47 (1952) 663-685, for the weights; Beygelzimer, Dasgupta, Langford, ICML 26 (2009) 49-56, for
asking by chance, the more likely the more doubtful; Žliobaitė, Bifet, Pfahringer, Holmes, IEEE TNNLS 25 (2014) 27-39,
for a budget that is kept along a stream; Steele, Lea, Flood, OOPSLA 2014, 453-472, for u.
"""

from hashlib import blake2b
from math import ceil

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel

FIRST, UNCERTAIN, AT_RANDOM = 1, 2, 3
"""Why a label is asked for: it is one of the first; the leading learner is uncertain of it; it was drawn."""
AT_ONCE = 20
"""Events whose label is asked for at the start."""
RECENT = 500
"""Margins that an event's is compared with."""
_DRAWN_SHARE = 0.2
"""Of the budget."""
_KEPT_BACK = 2
_TINY = 1e-12
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


def uniform(first: int, n: int) -> NDArray[np.float64]:
    """float64[n] in [0, 1): those of n events from the number `first` on; by SplitMix64, of the numbers alone."""
    bits = np.arange(first + 1, first + n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return ((bits ^ (bits >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53


@kernel
def decide(
    margins: NDArray[np.float64],
    numbers: NDArray[np.float64],
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

    margins [n], 0 to 1. numbers [n]: u, see `uniform`. size: m. drawn: which event is drawn of each block, beginning
    with that of the first event. counts int64[3], of which the first two are events and those asked; recent, ordered
    [RECENT], the last margins, as a ring and in order: changed in place. reasons int8[n], 0 for an event that is not
    asked; probabilities [n]: set.
    """
    chance = 1.0 / size
    share = (budget - chance) / (1.0 - chance)
    block = max(counts[_EVENTS] - AT_ONCE, 0) // size
    for i in range(margins.size):
        n = counts[_EVENTS]
        filled = min(n, RECENT)
        reasons[i], probabilities[i] = 0, 1.0
        if n < AT_ONCE:
            reasons[i] = FIRST
        else:
            left = np.ceil(budget * (n + 1)) + AT_ONCE - counts[_ASKED]
            likely = 0.0
            if left > _KEPT_BACK:
                likely = chance_of(margins[i], (share + (left - _KEPT_BACK) / RECENT) * filled, filled, ordered)
            probabilities[i] = likely + (1.0 - likely) * chance
            if numbers[i] < likely:
                reasons[i] = UNCERTAIN
            elif (n - AT_ONCE) % size == drawn[(n - AT_ONCE) // size - block]:
                reasons[i] = AT_RANDOM
        remember(margins[i], n, recent, ordered)
        counts[_EVENTS] += 1
        counts[_ASKED] += reasons[i] > 0


@kernel
def chance_of(margin: float, wanted: float, n: int, ordered: NDArray[np.float64]) -> float:
    """min(1, c d) for a margin's doubt d, with c so that the sum of that over n margins, in order, is `wanted`."""
    if wanted >= n:
        return 1.0
    total, factor = 0.0, 0.0
    for k in range(n - 1, -1, -1):  # as if exactly the first k were asked for certain
        doubt = doubt_of(ordered[k])
        total += doubt
        if (wanted - k) * doubt > total:
            break
        factor = (wanted - k) / total
    return float(min(1.0, factor * doubt_of(margin)))


@kernel
def doubt_of(margin: float) -> float:
    """d."""
    return (1.0 - margin) * (1.0 - margin) * (1.0 - margin) + _TINY


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
