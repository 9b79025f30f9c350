"""What decides, along a stream, whose label is asked for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.asking.decisions import AT_ONCE, RECENT, ROUGH, block_size, decide, drawn_from, uniform
from streamlin.evaluation.array_state import ArrayState
from streamlin.evaluation.predictions import Asked
from streamlin.storage.arrays import Expected, like

TOO_FEW = (
    f"ask.budget is under {ROUGH}: metrics weighted by 1/probability rest on few events drawn at random, "
    "and may be off by many points"
)


class Asking(ArrayState):
    """Asks for the labels of a share of the events that come without one; see `streamlin.asking.decisions`.

    budget : that share, above 0, at most 1.

    counts : int64[3], events whose label could be asked for, those whose label was asked for, and the answers.
    recent, ordered : float64[500], the margins of the last events, as a ring and in order.
    """

    arrays = ("counts", "recent", "ordered")

    def __init__(self, budget: float) -> None:
        self.budget, self._size = budget, block_size(budget)
        self.counts = np.zeros(3, np.int64)
        self.recent, self.ordered = np.zeros(RECENT), np.zeros(RECENT)

    @property
    def is_rough(self) -> bool:
        """Whether so few labels are asked for that weighted metrics are rough."""
        return self.budget < ROUGH

    def decide(self, margins: NDArray[np.float64]) -> Asked:
        """Decide for n events, from the margins float64[n] of their predictions."""
        asked = Asked(np.zeros(margins.size, np.int8), np.zeros(margins.size))
        first, last = (max(int(self.counts[0]) + n - AT_ONCE, 0) // self._size for n in (0, margins.size))
        drawn = np.array([drawn_from(block, self._size) for block in range(first, last + 1)], np.int64)
        numbers = uniform(int(self.counts[0]), margins.size)
        decide(margins, numbers, self.budget, self._size, drawn, self.counts, self.recent, self.ordered, *asked)
        return asked

    def report(self) -> dict[str, Any]:
        """The budget, the events it is a share of, how many labels were asked for, and how many of these arrived."""
        events, asked, answered = self.counts.tolist()
        rough = {"rough": True} if self.is_rough else {}
        return {"budget": self.budget, "events": events, "asked": asked, "answered": answered} | rough

    def expected(self, n_labels: int) -> dict[str, Expected]:
        """See `ArrayState`."""
        return super().expected(n_labels) | {"counts": like(self.counts, highest=1 << 52)}

    def is_consistent(self) -> bool:
        """See `ArrayState`."""
        filled = min(int(self.counts[0]), RECENT)
        same = np.array_equal(np.sort(self.recent[:filled]), self.ordered[:filled])
        return bool(self.counts[2] <= self.counts[1] <= self.counts[0]) and same
