"""Accuracy for each value of a field."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import CheckpointError
from streamlin.evaluation.array_state import ArrayState
from streamlin.evaluation.confusion import OTHER
from streamlin.evaluation.json_values import json_values
from streamlin.events import LabelIndex
from streamlin.kernel.late import late_kernel


class Slices(ArrayState):
    """Weighted accuracy of L learners by the values of one field; values after the first `limit` count as one.

    That one is called `(other)`; a value of this name counts there too.

    hit_weights : float64[limit + 1, L]. weights : float64[limit + 1]. events : int64[limit + 1]. The last row is that
        of `(other)`.
    unit : what is counted, as the report calls it.
    values : the values of the rows before it, in order of first sight; not an array, so `restore` leaves it unchanged.
    """

    arrays = ("hit_weights", "weights", "events")

    def __init__(self, learners: int, limit: int = 1000, unit: str = "events") -> None:
        self.limit, self.unit = limit, unit
        self.values = LabelIndex()
        self.hit_weights = np.zeros((limit + 1, learners))
        self.weights = np.zeros(limit + 1)
        self.events = np.zeros(limit + 1, np.int64)

    def restore_values(self, names: Sequence[str] | None) -> None:
        """Take over the values of a checkpoint. Raises CheckpointError if they are not those of the arrays."""
        if names is None or len(names) > self.limit or len(set(names)) < len(names):
            raise CheckpointError(f"the checkpoint's slices are not up to {self.limit} different values of a field")
        self.values = LabelIndex(names)

    def update(
        self,
        values: Sequence[str | None],
        predicted: NDArray[np.int32],
        labels: NDArray[np.int32],
        weights: NDArray[np.float64],
    ) -> None:
        """Count predicted int32[L, n] against labels int32[n] in the slices of the n values (None: no slice)."""
        room = self.limit - len(self.values)
        if room > 0:
            named = (value for value in dict.fromkeys(values) if value not in (None, OTHER))
            new = [value for value in named if self.values.code(value) < 0]
            self.values.learn(new[:room])
        codes = self.values.codes(values)
        codes[[code < 0 and value is not None for code, value in zip(codes, values, strict=True)]] = self.limit
        slice_batch(codes, predicted, labels, weights, self.hit_weights, self.weights, self.events)

    def to_json(self, learners: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Value -> learner -> accuracy, with their number, by its unit."""
        names = [*self.values.names, *[""] * (self.limit - len(self.values)), OTHER]
        return {
            names[row]: {self.unit: int(self.events[row])}
            | {
                learner: {"accuracy": share}
                for learner, share in zip(learners, json_values(self.hit_weights[row] / self.weights[row]), strict=True)
            }
            for row in np.flatnonzero(self.events)
        }


@late_kernel
def slice_batch(
    codes: NDArray[np.int32],
    predicted: NDArray[np.int32],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    hit_weights: NDArray[np.float64],
    slice_weights: NDArray[np.float64],
    events: NDArray[np.int64],
) -> None:
    """Add a batch to hit_weights float64[size, L], slice_weights float64[size], events int64[size]."""
    for i in range(labels.size):
        v = codes[i]
        if v < 0 or labels[i] < 0:
            continue
        events[v] += 1
        slice_weights[v] += weights[i]
        for m in range(predicted.shape[0]):
            hit_weights[v, m] += weights[i] * (predicted[m, i] == labels[i])
