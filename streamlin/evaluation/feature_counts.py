"""Counts of features: how long texts are, and how much of them is new.

A stream's texts change before its accuracy does, and without labels accuracy cannot be measured.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.array_state import ArrayState
from streamlin.features.rows import Examples
from streamlin.kernel.late import beside, late_kernel


class FeatureCounts(ArrayState):
    """For each of V views the features of events, labelled or not, over all time and over a window.

    Each event counts the same, except that events of weight 0 are skipped. A feature is unseen if it has no row yet:
    no labelled event before had it.

    totals : int64[V, 2], features and unseen ones. events : int64[1].
    recent : int32[window, V, 2], features and unseen ones of each of the last events, a ring.
    """

    arrays = ("totals", "events", "recent")

    def __init__(self, views: Sequence[str], window: int = 1000) -> None:
        self.views = list(views)
        self.totals = np.zeros((len(views), 2), np.int64)
        self.events = np.zeros(1, np.int64)
        self.recent = np.zeros((window, len(views), 2), np.int32)

    def update(self, examples: Mapping[str, Examples], weights: NDArray[np.float64]) -> None:
        """Count a batch, given as each view has it; weights float64[n]."""
        before = int(self.events[0])
        for number, view in enumerate(self.views):
            indptr, rows, _, rows_before = examples[view]
            totals, recent = self.totals[number], self.recent[:, number]
            count_features(indptr, rows, rows_before, weights, before, totals, recent)
        self.events += np.count_nonzero(weights)

    def add(self, own: "FeatureCounts") -> None:
        """Count what another one has counted, all of which is within its window."""
        n, before, window = int(own.events[0]), int(self.events[0]), len(self.recent)
        kept = np.arange(max(n - window, 0), n)
        self.recent[(before + kept) % window] = own.recent[kept]
        self.totals += own.totals
        self.events += n

    def to_json(self) -> dict[str, dict[str, Any]]:
        """For each view the mean number of features of an event and the share of unseen ones; both spans."""
        n = int(self.events[0])
        recent = self.recent[:n].sum(axis=0, dtype=np.int64).tolist()
        return {
            view: _means(all_time, n, "") | _means(own, min(n, len(self.recent)), "window_")
            for view, all_time, own in zip(self.views, self.totals.tolist(), recent, strict=True)
        }


def _means(counts: list[int], events: int, span: str) -> dict[str, Any]:
    features, unseen = counts
    return {
        f"{span}features": features / events if events else None,
        f"{span}unseen": unseen / features if features else None,
    }


def _count_features(
    indptr: NDArray[np.int64],
    rows: NDArray[np.int32],
    rows_before: NDArray[np.int64],
    weights: NDArray[np.float64],
    events: int,
    totals: NDArray[np.int64],
    recent: NDArray[np.int32],
) -> None:
    """As `count_features`, by columns."""
    lengths, own = np.diff(indptr), rows[indptr[0] : indptr[-1]]
    before = np.zeros(own.size + 1, np.int64)
    np.cumsum((own < 0) | (own >= np.repeat(rows_before, lengths)), out=before[1:])
    bounds = indptr - indptr[0]
    counts = np.column_stack([lengths, before[bounds[1:]] - before[bounds[:-1]]])[weights != 0.0]
    totals += counts.sum(axis=0)
    window, n = recent.shape[0], len(counts)
    last = np.arange(max(n - window, 0), n)
    recent[(events + last) % window] = counts[last]


@late_kernel
@beside(_count_features)
def count_features(
    indptr: NDArray[np.int64],
    rows: NDArray[np.int32],
    rows_before: NDArray[np.int64],
    weights: NDArray[np.float64],
    events: int,
    totals: NDArray[np.int64],
    recent: NDArray[np.int32],
) -> None:
    """Count n events after `events` others; totals int64[2] and recent int32[window, 2] are changed in place."""
    for i in range(rows_before.size):
        if weights[i] == 0.0:
            continue
        begin, end, known = indptr[i], indptr[i + 1], np.int32(rows_before[i])
        unseen = np.int32(0)
        for j in range(begin, end):
            unseen += np.int32((rows[j] < 0) | (rows[j] >= known))
        slot = events % recent.shape[0]
        events += 1
        recent[slot, 0], recent[slot, 1] = end - begin, unseen
        totals[0] += end - begin
        totals[1] += unseen
