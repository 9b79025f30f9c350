"""How often each label is true, predicted, and predicted right: the sums of kappa and F1.

Fading sums are kept without touching every label at every event: instead of multiplying all old weights by α, the new
weight is multiplied by another 1/α. Only ratios of these sums are ever used.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.array_state import ArrayState
from streamlin.evaluation.window import Window
from streamlin.kernel.late import late_kernel
from streamlin.storage.arrays import Expected, expected

LARGE = 1e100
"""The scale above which fading sums are brought back to the scale of 1."""


class Totals(NamedTuple):
    """Weights by label, over some events.

    labels : float64[K], of the events with that true label.
    predicted : float64[M, K], of those each predictor gives that label; abstentions and unseen labels do not count.
    hits : float64[M, K], of those where the prediction is right.
    """

    labels: NDArray[np.float64]
    predicted: NDArray[np.float64]
    hits: NDArray[np.float64]


class LabelSums(ArrayState):
    """Sums of weights by label for M predictors, over all time and fading; weight 0 and no label change nothing.

    label_sums : float64[K, 2], running and fading. sums : float64[M, K, 4], predicted running and fading, hits running
        and fading. scale : float64[1], the factor of new weights in the fading sums.
    """

    arrays = ("label_sums", "sums", "scale")

    def __init__(self, predictors: int, fading: float = 0.999) -> None:
        self.fading = fading
        self.label_sums = np.zeros((0, 2))
        self.sums = np.zeros((predictors, 0, 4))
        self.scale = np.ones(1)

    def update(
        self, predicted: NDArray[np.int32], labels: NDArray[np.int32], weights: NDArray[np.float64], n_labels: int
    ) -> None:
        """Count predicted int32[M, n], below 0 for no known label, against labels int32[n], -1: no label."""
        more = n_labels - self.label_sums.shape[0]
        if more > 0:
            self.label_sums = np.pad(self.label_sums, ((0, more), (0, 0)))
            self.sums = np.pad(self.sums, ((0, 0), (0, more), (0, 0)))
        add_batch(predicted, labels, weights, 1.0 / self.fading, self.label_sums, self.sums, self.scale)

    def expected(self, n_labels: int) -> dict[str, Expected]:
        """See `ArrayState`."""
        sums = expected(np.float64, self.sums.shape[0], n_labels, 4)
        return super().expected(n_labels) | {"label_sums": expected(np.float64, n_labels, 2), "sums": sums}

    def running(self) -> Totals:
        """Over all time."""
        return Totals(self.label_sums[:, 0], self.sums[:, :, 0], self.sums[:, :, 2])

    def faded(self) -> Totals:
        """Over all time, fading; scaled, so that only ratios mean anything."""
        return Totals(self.label_sums[:, 1], self.sums[:, :, 1], self.sums[:, :, 3])

    def windowed(self, window: Window) -> Totals:
        """Over the events of a window."""
        labels, predicted, weights = window
        n_labels = self.label_sums.shape[0]
        true = labels[:, np.newaxis]
        hits = predicted == true
        return Totals(
            _by_label(true, weights, true >= 0, n_labels)[0],
            _by_label(predicted, weights, predicted >= 0, n_labels),
            _by_label(predicted, weights, hits, n_labels),
        )


@late_kernel
def add_batch(
    predicted: NDArray[np.int32],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    growth: float,
    label_sums: NDArray[np.float64],
    sums: NDArray[np.float64],
    scale: NDArray[np.float64],
) -> None:
    """Add a batch, event by event, to the arrays of `LabelSums`; growth is 1/α."""
    for i in range(labels.size):
        y = labels[i]
        if y < 0:
            continue
        scale[0] *= growth
        if scale[0] > LARGE:
            for k in range(label_sums.shape[0]):
                label_sums[k, 1] /= scale[0]
                for m in range(sums.shape[0]):
                    sums[m, k, 1] /= scale[0]
                    sums[m, k, 3] /= scale[0]
            scale[0] = 1.0
        w = weights[i]
        scaled = w * scale[0]
        label_sums[y, 0] += w
        label_sums[y, 1] += scaled
        for m in range(predicted.shape[0]):
            guess = predicted[m, i]
            if guess >= 0:
                sums[m, guess, 0] += w
                sums[m, guess, 1] += scaled
                if guess == y:
                    sums[m, guess, 2] += w
                    sums[m, guess, 3] += scaled


def _by_label(
    predicted: NDArray[np.int32], weights: NDArray[np.float64], counted: NDArray[np.bool_], n_labels: int
) -> NDArray[np.float64]:
    """float64[M, K]: the weights of counted predictions int32[n, M] by label, added event by event."""
    sums = np.zeros((predicted.shape[1], n_labels))
    for m, row in enumerate(sums):
        row[:] = np.bincount(predicted[counted[:, m], m], weights[counted[:, m]], n_labels)
    return sums
