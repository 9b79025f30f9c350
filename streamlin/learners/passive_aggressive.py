"""Passive-aggressive learning, variants PA-I and PA-II.

Crammer et al., JMLR 7 (2006) 551-585, figure 1; the multiclass form of section 5.
"""

from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from streamlin.features import View
from streamlin.features.rows import Examples
from streamlin.kernel import kernel
from streamlin.kernel.bound_arguments import BoundTuple
from streamlin.learners.base import Learner
from streamlin.learners.linear import add_scaled, best_other, linear_scores, squared_length
from streamlin.learners.parameters import PositiveOrInfinite, checked
from streamlin.learners.step import Kernels, best_score, set_targets
from streamlin.learners.targets import Targets


@kernel
def learn_batch(
    indptr: NDArray[np.int64],
    rows: NDArray[np.int32],
    values: NDArray[np.float32],
    rows_before: NDArray[np.int64],
    codes: NDArray[np.int32],
    n_known: NDArray[np.int64],
    event_weights: NDArray[np.float64],
    C: float,
    softness: float,
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    scores: NDArray[np.float64],
) -> None:
    """Score, then learn, event by event; weights [n_rows, n_labels] and bias [n_labels] are changed in place.

    C : the largest step. softness : added to 2 ||x||^2.
    """
    examples, targets = Examples(indptr, rows, values, rows_before), Targets(codes, n_known, event_weights)
    for i in range(targets.codes.size):
        s, known = scores[i], targets.known[i]
        linear_scores(examples, i, weights, bias, 1.0, known, s)
        y = targets.codes[i]
        rival = best_other(s, y)
        if y < 0 or rival < 0:
            continue
        loss = 1.0 + s[rival]
        if y < known:  # a label that the event itself brings has score 0
            loss -= s[y]
        if loss > 0.0:
            squared_norm = 1.0 + squared_length(examples, i)  # the bias is a feature that is always on
            step = targets.weights[i] * min(C, loss / (2.0 * squared_norm + softness))
            add_scaled(examples, i, step, weights, bias, y)
            add_scaled(examples, i, -step, weights, bias, rival)


@kernel
def learn_event(event: BoundTuple, code: int, known: int, weight: float) -> int:
    """`learn_batch` for one event; see `Step`."""
    set_targets(event, code, known, weight)
    learn_batch(*event.items)
    return best_score(event)


@cache
def softness(C: float) -> float:
    """The term that PA-II adds to 2 ||x||^2; the same object for the same C, see `Learner.arguments`."""
    return 0.5 / C


class PassiveAggressive(Learner):
    """Multiclass PA-I, or PA-II.

    For an example x (its bias feature included) with label y, and the best scored other label r::

        loss = max(0, 1 - W_y.x + W_r.x)
        tau  = min(C, loss / (2 ||x||^2))              PA-I
        tau  = loss / (2 ||x||^2 + 1 / (2 C))          PA-II
        W_y += w tau x,   W_r -= w tau x

    Parameters
    ----------
    C : the largest step of PA-I; for PA-II the smaller it is, the more every step shrinks. Smaller for noisier labels.
    variant : 1 for PA-I, which clips large steps; 2 for PA-II, which shrinks every step instead.
    features : see `Learner`; unnormalised values.

    Attributes
    ----------
    weights : W, the weight of each feature for each label.
    bias : the weights of the feature that is always on.

    Raises
    ------
    ConfigError : a parameter is outside its limits.
    """

    name = "passive_aggressive"
    tables = ("weights", "bias")
    kernels = Kernels(learn_batch, learn_event)

    @checked
    def __init__(self, C: PositiveOrInfinite = 0.1, variant: Literal[1, 2] = 1, features: View | None = None) -> None:
        super().__init__(features)
        self.C, self.variant = C, variant
        self.weights = np.zeros((0, 0), np.float32)
        self.bias = np.zeros(0, np.float32)

    def arguments(self) -> tuple[Any, ...]:
        bounds = (self.C, 0.0) if self.variant == 1 else (np.inf, softness(self.C))
        return *bounds, self.weights, self.bias
