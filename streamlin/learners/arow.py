"""Adaptive regularisation of weights (AROW), with a diagonal precision that the labels share.

Crammer, Kulesza, Dredze, NIPS 2009, figure 1; multiclass against the best scored wrong label, as in Crammer et al.,
JMLR 7 (2006) 551-585, section 5.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.features import View
from streamlin.features.rows import Examples, prefetch_rows
from streamlin.kernel import inlined_kernel, kernel
from streamlin.kernel.bound_arguments import BoundTuple
from streamlin.kernel.late import beside, late_kernel
from streamlin.learners import by_numpy
from streamlin.learners.base import Learner
from streamlin.learners.by_key import KeyedEvents, of_key
from streamlin.learners.linear import best_other, linear_scores, scale_to_one
from streamlin.learners.mixing import Change, add_by_gain, add_by_precision, add_sum, add_sums
from streamlin.learners.parameters import Positive, checked
from streamlin.learners.step import Kernels, best_score, set_targets
from streamlin.learners.targets import Targets


@late_kernel
def learn_batch(
    indptr: NDArray[np.int64],
    rows: NDArray[np.int32],
    values: NDArray[np.float32],
    rows_before: NDArray[np.int64],
    codes: NDArray[np.int32],
    n_known: NDArray[np.int64],
    event_weights: NDArray[np.float64],
    r: float,
    normalize: bool,
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    precisions: NDArray[np.float64],
    bias_precision: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    """Score, then learn, event by event. Changed in place:

    weights [n_rows, n_labels], bias [n_labels]. precisions [n_rows, 1], bias_precision [] : P - 1, so that zero is new.
    """
    examples, targets = Examples(indptr, rows, values, rows_before), Targets(codes, n_known, event_weights)
    for i in range(targets.codes.size):
        prefetch_rows(examples, i + 1, weights)
        prefetch_rows(examples, i + 1, precisions)
        s, known = scores[i], targets.known[i]
        scale = scale_to_one(examples, i) if normalize else 1.0
        linear_scores(examples, i, weights, bias, scale, known, s)
        y = targets.codes[i]
        rival = best_other(s, y)
        if y < 0 or rival < 0:
            continue
        loss = 1.0 + s[rival] - (s[y] if y < known else 0.0)  # a label that the event itself brings has score 0
        if loss <= 0.0:
            continue
        variance = add_variances(examples, i, scale, 2.0 / (1.0 + float(bias_precision[()])), precisions)
        w = targets.weights[i]
        step = w * (loss / (variance + r))
        certain_steps(examples, i, scale, step, y, rival, w, r, weights, precisions)
        change = step / (1.0 + bias_precision[()])
        bias[y] += change
        bias[rival] -= change
        bias_precision[()] += w / r


@kernel
def learn_event(event: BoundTuple, code: int, known: int, weight: float) -> int:
    """`learn_batch` for one event; see `Step`."""
    set_targets(event, code, known, weight)
    learn_batch(*event.items)
    return best_score(event)


@kernel
def learn_keyed(events: KeyedEvents, arguments: tuple[Any, ...], scores: NDArray[np.float64]) -> None:
    """`learn_batch` for each key, with its tables; see `streamlin.learners.by_key`."""
    for key in range(events.slots.size):
        learn_batch(*of_key(events, key, arguments, scores))


@inlined_kernel
@beside(by_numpy.add_variances)
def add_variances(examples: Examples, i: int, scale: float, variance: float, precisions: NDArray[np.float64]) -> float:
    """A variance plus those that event i's features add."""
    for j in range(examples.indptr[i], examples.indptr[i + 1]):
        x = scale * np.float64(examples.values[j])
        variance += 2.0 * x * x / (1.0 + precisions[examples.rows[j], 0])
    return variance


@inlined_kernel
@beside(by_numpy.certain_steps)
def certain_steps(
    examples: Examples,
    i: int,
    scale: float,
    step: float,
    y: int,
    rival: int,
    weight: float,
    r: float,
    weights: NDArray[np.float32],
    precisions: NDArray[np.float64],
) -> None:
    """The steps of event i's features, which are the smaller, the more certain their weights."""
    for j in range(examples.indptr[i], examples.indptr[i + 1]):
        row, x = examples.rows[j], scale * np.float64(examples.values[j])
        change = step * x / (1.0 + precisions[row, 0])
        weights[row, y] += change
        weights[row, rival] -= change
        precisions[row, 0] += weight * x * x / r


class Arow(Learner):
    """Multiclass AROW: passive-aggressive steps that are smaller for features with more certain weights.

    For an example x (its bias feature included) with label y, the best scored other label r*, and a precision P_j of
    feature j's weights, initially 1; if loss = 1 - W_y.x + W_r*.x > 0::

        v    = sum_j 2 x_j^2 / P_j
        tau  = w loss / (v + r)
        W_yj += tau x_j / P_j,   W_r*j -= tau x_j / P_j
        P_j  += w x_j^2 / r

    Parameters
    ----------
    r : larger for noisier labels: steps are smaller, and precisions grow more slowly.
    normalize : scale a text's values, without the bias, to length 1; of several views, those of each. It then needs a
        smaller r, 1 for example.
    features : see `Learner`.

    Attributes
    ----------
    weights : W, the weight of each feature for each label.
    bias : the weights of the feature that is always on.
    precisions : P - 1, how certain the weights of each feature are.
    bias_precision : P - 1 of the bias.

    Raises
    ------
    ConfigError : r is outside its limits.
    """

    name = "arow"
    tables = ("weights", "bias", "precisions", "bias_precision")
    shared = ("precisions",)
    kernels = Kernels(learn_batch, learn_event, learn_keyed)

    @checked
    def __init__(
        self, r: Positive = 10.0, normalize: bool = False, features: View | Sequence[View] | None = None
    ) -> None:
        super().__init__(features)
        self.r, self.normalize = r, normalize
        self.weights, self.bias = np.zeros((0, 0), np.float32), np.zeros(0, np.float32)
        self.precisions, self.bias_precision = np.zeros((0, 1)), np.zeros(())

    @property
    def prior_step(self) -> float:
        """tau, where v is 4: twice the word and the bias, whose precisions are 1."""
        return 1.0 / (4.0 + self.r)

    def mix(self, changes: Sequence[Change]) -> None:
        """Precisions add up; changes of W are weighed by the precision of the shard that made them.

        That is the product of the shards' Gaussians, each divided by the one from which all began, as in Broderick and
        others, NIPS 2013, 1727-1735. Values of length 1 add so little precision that it would be a sum of all changes,
        too large a step: there each change is weighted by the precision that its shard has added.
        """
        if self.normalize:
            add_by_gain(self.weights, changes, ("weights", "precisions"))
            add_by_gain(self.bias, changes, ("bias", "bias_precision"))
            add_sums(self.precisions, changes, "precisions")
            add_sum(self.bias_precision, changes, "bias_precision")
            return
        sums = np.zeros_like(self.precisions)
        add_sums(sums, changes, "precisions")
        for one in changes:
            d, g = one.tables["weights"], one.tables["precisions"]
            add_by_precision(self.weights, one.rows, one.columns, d, g, self.precisions, sums)
        add_sums(self.precisions, changes, "precisions")
        total = sum(float(one.numbers["bias_precision"]) for one in changes)
        own = 1.0 + float(self.bias_precision)
        for one in changes:
            share = (own + float(one.numbers["bias_precision"])) / (own + total)
            self.bias[one.columns] += share * one.numbers["bias"].astype(np.float64)
        add_sum(self.bias_precision, changes, "bias_precision")

    def arguments(self) -> tuple[Any, ...]:
        return self.r, self.scales, self.weights, self.bias, self.precisions, self.bias_precision
