"""Confusion counts: how often each label was predicted for each true label."""

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.array_state import ArrayState
from streamlin.evaluation.window import Window
from streamlin.storage.arrays import Expected, expected

OTHER, ABSTAINED = "(other)", "(abstained)"


class Confusion(ArrayState):
    """Events by true and predicted label, for L learners; labels after the first `limit` are counted as one.

    counts : int64[L, size + 1, size + 2], true by predicted label. The last row and the last column but one count the
        labels beyond the limit, the last column abstentions.
    """

    arrays = ("counts",)

    def __init__(self, learners: int, limit: int = 200) -> None:
        self.limit = limit
        self.counts = np.zeros((learners, 1, 2), np.int64)

    def update(self, predicted: NDArray[np.int32], labels: NDArray[np.int32], n_labels: int) -> None:
        """Count predicted int32[L, n] against labels int32[n]; -1: no label, or an abstention."""
        self._grow(min(n_labels, self.limit))
        size = self.counts.shape[1] - 1
        learned = labels >= 0
        rows, guesses = np.minimum(labels[learned], size), predicted[:, learned]
        columns = np.where(guesses < 0, size + 1, np.minimum(guesses, size))
        for counts, column in zip(self.counts, columns, strict=True):
            counts += np.bincount(rows * (size + 2) + column, minlength=counts.size).reshape(counts.shape)

    def expected(self, n_labels: int) -> dict[str, Expected]:
        """See `ArrayState`."""
        size = min(n_labels, self.limit)
        return {"counts": expected(np.int64, self.counts.shape[0], size + 1, size + 2)}

    def windowed(self, window: Window) -> "Confusion":
        """The same over the events of a window, in which the learners stand first."""
        n, size, _ = self.counts.shape
        recent = Confusion(n, self.limit)
        recent.update(window.predicted[:, :n].T, window.labels, size - 1)
        return recent

    def of(self, learner: int, names: list[str]) -> dict[str, dict[str, int]]:
        """True label -> predicted label -> events, without zeros."""
        size = self.counts.shape[1] - 1
        rows = [*names[:size], OTHER]
        columns = [*names[:size], OTHER, ABSTAINED]
        table: dict[str, dict[str, int]] = {}
        counts = self.counts[learner]
        found = np.nonzero(counts)
        for row, column, count in zip(found[0].tolist(), found[1].tolist(), counts[found].tolist(), strict=True):
            cells = table.setdefault(rows[row], {})
            cells[columns[column]] = cells.get(columns[column], 0) + count  # "(other)" may also be the name of a label
        return table

    def _grow(self, size: int) -> None:
        old = self.counts.shape[1] - 1
        if size > old:
            counts = np.zeros((self.counts.shape[0], size + 1, size + 2), np.int64)
            counts[:, :old, :old] = self.counts[:, :old, :old]
            counts[:, :old, -1] = self.counts[:, :old, -1]
            self.counts = counts
