"""The tokens of the last labelled sentences."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.array_state import ArrayState
from streamlin.evaluation.window import Window
from streamlin.storage.arrays import Expected, expected


class TokenWindow(ArrayState):
    """The labelled tokens of the last `sentences` labelled sentences, with the predictions of M predictors.

    Tokens are appended to buffers; when these are full, what is still in the window moves to larger ones.
    """

    arrays = ("labels", "predicted", "weights", "lengths")

    def __init__(self, sentences: int, predictors: int) -> None:
        self._sentences = sentences
        self._begin = self._end = 0
        self._labels = np.zeros(0, np.int32)
        self._predicted = np.zeros((0, predictors), np.int32)
        self._weights = np.zeros(0)
        self.lengths = np.zeros(0, np.int64)
        """int64[n]: the number of tokens of each sentence of the window, the oldest first."""

    @property
    def labels(self) -> NDArray[np.int32]:
        """int32[m]."""
        return self._labels[self._begin : self._end]

    @property
    def predicted(self) -> NDArray[np.int32]:
        """int32[m, M]."""
        return self._predicted[self._begin : self._end]

    @property
    def weights(self) -> NDArray[np.float64]:
        """float64[m]."""
        return self._weights[self._begin : self._end]

    def window(self) -> Window:
        """The tokens; not copied."""
        return Window(self.labels, self.predicted, self.weights)

    def add(
        self,
        predicted: NDArray[np.int32],
        labels: NDArray[np.int32],
        weights: NDArray[np.float64],
        lengths: NDArray[np.int64],
    ) -> None:
        """Append labelled tokens: predicted int32[M, m], labels int32[m], weights float64[m], lengths int64[n]."""
        self._make_room(labels.size)
        new = slice(self._end, self._end + labels.size)
        self._labels[new], self._predicted[new], self._weights[new] = labels, predicted.T, weights
        self._end = new.stop
        whole = np.concatenate([self.lengths, lengths])
        old = max(0, whole.size - self._sentences)
        self._begin += int(whole[:old].sum())
        self.lengths = whole[old:]

    def expected(self, n_labels: int) -> dict[str, Expected]:
        """See `ArrayState`."""
        most = max(n_labels - 1, 0)
        return {
            "labels": expected(np.int32, None, highest=most),
            "predicted": expected(np.int32, None, self._predicted.shape[1], lowest=-1, highest=most),
            "weights": expected(np.float64, None),
            "lengths": expected(np.int64, None, lowest=1),
        }

    def is_consistent(self) -> bool:
        """See `ArrayState`."""
        tokens = int(self.lengths.sum())
        return tokens == len(self._labels) == len(self._predicted) == len(self._weights)

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Copy the arrays that `state` returned."""
        self._labels, self._predicted, self._weights, self.lengths = (state[name].copy() for name in self.arrays)
        self._begin, self._end = 0, self._labels.size

    def _make_room(self, tokens: int) -> None:
        if self._end + tokens <= self._labels.size:
            return
        kept = self._end - self._begin
        size = 2 * (kept + tokens)
        for name in ("_labels", "_predicted", "_weights"):
            old = getattr(self, name)
            new = np.zeros((size, *old.shape[1:]), old.dtype)
            new[:kept] = old[self._begin : self._end]
            setattr(self, name, new)
        self._begin, self._end = 0, kept
