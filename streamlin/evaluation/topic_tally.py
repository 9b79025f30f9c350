"""Counts of clusters of texts: how many are new, how well texts fit, and how clusters agree with labels, if any.

Strehl, Ghosh, JMLR 3 (2002) 583-617, for normalized mutual information, here by the mean of both entropies::

    NMI = 2 I / (H(clusters) + H(labels)),   I = H(clusters) + H(labels) - H(clusters, labels)

A cluster that is given up does not change any more, so its part of the sums is kept in place of its counts.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.array_state import ArrayState
from streamlin.kernel import kernel
from streamlin.storage.arrays import Expected, like

JOINT, OWN, PURE = range(3)
"""Of clusters given up: sum n log n of their cells, and of their sizes; the weight of their commonest labels."""
WEIGHT, SIMILARITY, NEW = range(3)
"""Of texts with words: weight, weight times similarity, and the weight of new ones."""


class _Counts(NamedTuple):
    """The arrays of `TopicTally`."""

    cells: NDArray[np.float64]
    given_up: NDArray[np.float64]
    labels: NDArray[np.float64]
    sums: NDArray[np.float64]
    recent: NDArray[np.float64]
    events: NDArray[np.int64]


class TopicTally(ArrayState):
    """What L clusterers made of the texts.

    cells : float64[L, clusters, labels], weight of texts by cluster in use and label; the last label is all others.
    given_up : float64[L, 3]. labels : float64[L, labels], of the texts that have a cluster.
    sums : float64[L, 3]. recent : float64[window, L, 3], the same of the last texts, a ring. events : int64[1].
    """

    arrays = _Counts._fields

    def __init__(self, learners: int, clusters: int, labels: int, window: int) -> None:
        self.cells, self.given_up = np.zeros((learners, clusters, labels)), np.zeros((learners, 3))
        self.labels, self.sums = np.zeros((learners, labels)), np.zeros((learners, 3))
        self.recent, self.events = np.zeros((window, learners, 3)), np.zeros(1, np.int64)

    def expected(self, n_labels: int) -> dict[str, Expected]:
        """See `ArrayState`."""
        return {name: like(getattr(self, name)) for name in self.arrays}

    def update(
        self,
        slots: NDArray[np.int32],
        similarities: NDArray[np.float64],
        new: NDArray[np.bool_],
        codes: NDArray[np.int32],
        weights: NDArray[np.float64],
    ) -> None:
        """Count n texts; arguments [L, n] as `Assigned` has them, codes int32[n], -1 for no label."""
        count_texts(slots, similarities, new, codes, weights, _Counts(*(getattr(self, name) for name in self.arrays)))

    def shares(self, column: int, windowed: bool) -> NDArray[np.float64]:
        """float64[L]: a column of the sums by weight; NaN where nothing was counted."""
        sums = self.recent.sum(axis=0) if windowed else self.sums
        with np.errstate(invalid="ignore"):
            shares: NDArray[np.float64] = sums[:, column] / sums[:, WEIGHT]
        return shares

    @property
    def has_labels(self) -> bool:
        """Whether a text with a cluster has a label."""
        return bool(self.labels.any())

    def purity(self) -> NDArray[np.float64]:
        """float64[L]: the share of texts whose label is the commonest of their cluster."""
        with np.errstate(invalid="ignore"):
            pure: NDArray[np.float64] = self.cells.max(axis=2).sum(axis=1) + self.given_up[:, PURE]
            share: NDArray[np.float64] = pure / self.labels.sum(axis=1)
        return share

    def mutual_information(self) -> NDArray[np.float64]:
        """float64[L]: NMI; 1 where there is one cluster and one label, NaN where there is no label."""
        joint = _sum_n_log_n(self.cells, (1, 2)) + self.given_up[:, JOINT]
        own = _sum_n_log_n(self.cells.sum(axis=2), 1) + self.given_up[:, OWN]
        labels, total = _sum_n_log_n(self.labels, 1), self.labels.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            whole = total * np.log(total)
            entropies = 2.0 * whole - own - labels
            found: NDArray[np.float64] = 2.0 * (whole + joint - own - labels) / entropies
        found[(entropies <= 1e-12 * total) & (total > 0)] = 1.0
        clipped: NDArray[np.float64] = np.clip(found, 0.0, 1.0)
        return clipped


def _sum_n_log_n(counts: NDArray[np.float64], axis: int | tuple[int, ...]) -> NDArray[np.float64]:
    sums: NDArray[np.float64] = (counts * np.log(np.maximum(counts, 1e-300))).sum(axis=axis)
    return sums


@kernel
def count_texts(
    slots: NDArray[np.int32],
    similarities: NDArray[np.float64],
    new: NDArray[np.bool_],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    counts: _Counts,
) -> None:
    """Add n texts to the counts, one after the other; those of weight 0 or without words do not count."""
    for i in range(weights.size):
        if weights[i] <= 0.0:
            continue
        ring = counts.events[0] % counts.recent.shape[0]
        counts.events[0] += 1
        for m in range(slots.shape[0]):
            slot, recent = slots[m, i], counts.recent[ring, m]
            recent[:] = 0.0
            if slot < 0:
                continue
            fit = 0.0 if np.isnan(similarities[m, i]) else similarities[m, i]
            recent[WEIGHT], recent[SIMILARITY] = weights[i], weights[i] * fit
            recent[NEW] = weights[i] * new[m, i]
            for column in range(3):
                counts.sums[m, column] += recent[column]
            if new[m, i]:
                give_up(counts.cells[m, slot], counts.given_up[m])
            if codes[i] >= 0:
                counts.cells[m, slot, codes[i]] += weights[i]
                counts.labels[m, codes[i]] += weights[i]


@kernel
def give_up(cells: NDArray[np.float64], sums: NDArray[np.float64]) -> None:
    """Keep what a cluster's cells float64[labels] add to the sums float64[3], and clear them."""
    total, most = 0.0, 0.0
    for k in range(cells.size):
        if cells[k] > 0.0:
            sums[JOINT] += cells[k] * math.log(cells[k])
            total += cells[k]
            most = max(most, cells[k])
        cells[k] = 0.0
    if total > 0.0:
        sums[OWN] += total * math.log(total)
        sums[PURE] += most
