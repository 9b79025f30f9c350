"""Pairs of predictors: how often only one of the two was right."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.array_state import ArrayState
from streamlin.evaluation.mcnemar import mcnemar
from streamlin.evaluation.window import Window
from streamlin.kernel import kernel


class Pairs(ArrayState):
    """For M predictors, how often each was right where another one was wrong; weights aside, an abstention is wrong.

    only : int64[M, M], labelled events that the first predictor got right and the second one wrong.
    """

    arrays = ("only",)

    def __init__(self, predictors: int) -> None:
        self.only = np.zeros((predictors, predictors), np.int64)

    def update(self, predicted: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
        """Count predicted int32[M, n] against labels int32[n], -1: no label."""
        count_pairs(predicted, labels, self.only)

    def windowed(self, window: Window) -> NDArray[np.int64]:
        """The same over the events of a window."""
        only = np.zeros_like(self.only)
        count_pairs(np.ascontiguousarray(window.predicted.T), window.labels, only)
        return only


class Compared(Protocol):
    """The comparison of predictors over a span, see `streamlin.evaluation.spans.Sums`."""

    @property
    def only(self) -> NDArray[np.int64]: ...

    def p_value(self, first: int, second: int) -> float: ...


def pair_list(names: list[str], running: Compared, window: Compared) -> list[dict[str, Any]]:
    """Each pair of predictors: the counts and p of a test, over all events and over the window."""
    n = len(names)
    return [
        {"first": names[a], "second": names[b]} | _compared(running, a, b, "") | _compared(window, a, b, "window_")
        for a in range(n)
        for b in range(a + 1, n)
    ]


def _compared(sums: Compared, a: int, b: int, span: str) -> dict[str, Any]:
    counts = {f"{span}only_first": int(sums.only[a, b]), f"{span}only_second": int(sums.only[b, a])}
    return counts | {f"{span}p": sums.p_value(a, b)}


def p_value(only: NDArray[np.int64], a: int, b: int) -> float:
    """Of McNemar's test on two predictors, from the counts of all."""
    return mcnemar(int(only[a, b]), int(only[b, a]))


@kernel
def count_pairs(predicted: NDArray[np.int32], labels: NDArray[np.int32], only: NDArray[np.int64]) -> None:
    """Add a batch to only int64[M, M]; 62 events are the bits of one number, so they are compared at once."""
    n_predictors = predicted.shape[0]
    right, wrong = np.empty(n_predictors, np.int64), np.empty(n_predictors, np.int64)
    for begin in range(0, labels.size, 62):
        end = min(begin + 62, labels.size)
        counted = 0
        for i in range(begin, end):
            counted |= (labels[i] >= 0) << (i - begin)
        for m in range(n_predictors):
            hits = 0
            for i in range(begin, end):
                hits |= (predicted[m, i] == labels[i]) << (i - begin)
            right[m], wrong[m] = hits & counted, ~hits & counted
        for a in range(n_predictors):
            for b in range(n_predictors):
                only[a, b] += ones(right[a] & wrong[b])


@kernel
def ones(bits: int) -> int:
    """How many bits of a number are 1, summed in fields of 2, 4, 8, … bits."""
    bits -= (bits >> 1) & 0x5555555555555555
    bits = (bits & 0x3333333333333333) + ((bits >> 2) & 0x3333333333333333)
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0F
    bits += bits >> 8
    bits += bits >> 16
    return (bits + (bits >> 32)) & 0x7F
