"""Pairs of predictors: how often only one of the two was right."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.array_state import ArrayState
from streamlin.evaluation.mcnemar import mcnemar
from streamlin.evaluation.window import Window


class Pairs(ArrayState):
    """For M predictors, how often each was right where another one was wrong; weights aside, an abstention is wrong.

    only : int64[M, M], labelled events that the first predictor got right and the second one wrong.
    """

    arrays = ("only",)

    def __init__(self, predictors: int) -> None:
        self.only = np.zeros((predictors, predictors), np.int64)

    def update(self, predicted: NDArray[np.int32], labels: NDArray[np.int32]) -> None:
        """Count predicted int32[M, n] against labels int32[n], -1: no label."""
        self.only += _only(predicted, labels)

    def windowed(self, window: Window) -> NDArray[np.int64]:
        """The same over the events of a window."""
        return _only(window.predicted.T, window.labels)


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


def _only(predicted: NDArray[np.int32], labels: NDArray[np.int32]) -> NDArray[np.int64]:
    """int64[M, M]: see `Pairs`; events are bits, so that many are compared at once."""
    hits, counted = predicted == labels, labels >= 0
    right, wrong = np.packbits(hits & counted, axis=1), np.packbits(~hits & counted, axis=1)
    return np.stack([np.bitwise_count(bits & wrong).sum(axis=1, dtype=np.int64) for bits in right])
