"""The averaged perceptron.

Freund, Schapire, Machine Learning 37 (1999) 277-296; Collins, EMNLP 2002. The mean is kept lazily, see
`streamlin.learners.averaging`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.features import View
from streamlin.features.rows import Examples, prefetch_rows
from streamlin.kernel import kernel
from streamlin.kernel.bound_arguments import BoundTuple
from streamlin.kernel.late import late_kernel
from streamlin.learners.averaging import (
    NO_HALF_LIFE,
    TABLES,
    Average,
    add_late,
    advance,
    mean_scores,
    mean_weights,
    mix_average,
)
from streamlin.learners.base import ALL, Learner, Rows
from streamlin.learners.by_key import KeyedEvents, of_key
from streamlin.learners.forgetting import growth_rate
from streamlin.learners.linear import add_scaled, best_other, linear_scores
from streamlin.learners.mixing import Change
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
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    sums: NDArray[np.float64],
    bias_sums: NDArray[np.float64],
    clock: NDArray[np.float64],
    growth: NDArray[np.float64],
    rate: float,
    scores: NDArray[np.float64],
) -> None:
    """Score, then learn, event by event.

    weights [n_rows, n_labels], bias [n_labels] : the current ones, changed in place.
    sums, bias_sums, clock, growth, rate : see `Average`.
    """
    examples, targets = Examples(indptr, rows, values, rows_before), Targets(codes, n_known, event_weights)
    average = Average(sums, bias_sums, clock, growth, rate)
    current = np.empty(scores.shape[1])  # the scores by the current weights
    for i in range(targets.codes.size):
        prefetch_rows(examples, i + 1, weights)
        prefetch_rows(examples, i + 1, sums)
        known = targets.known[i]
        linear_scores(examples, i, weights, bias, 1.0, known, current)
        mean_scores(examples, i, average, current, known, scores[i])
        y = np.int64(targets.codes[i])
        if y < 0 or best_other(current, y) < 0:
            continue
        guess = best_other(current, -1)
        if guess != y:
            step = targets.weights[i]
            add_scaled(examples, i, step, weights, bias, y)
            add_scaled(examples, i, -step, weights, bias, guess)
            add_late(examples, i, step, average, y)
            add_late(examples, i, -step, average, guess)
        advance(average)


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


class AveragedPerceptron(Learner):
    """The perceptron that predicts with the mean of its weights over time.

    It learns from the mistakes of the current weights W. After t events, the mean is W - U / t, where U sums c d for
    each update d made when the clock stood at c::

        k = argmax W_k.x != y:   W_y += w x,  W_k -= w x,  U_y += t w x,  U_k -= t w x
        t += 1

    With a half-life the mean is weighted: the W of an event weighs half as much as that of `half_life` events later.
    The clock is then a sum of growing weights, t += 2^(i / half_life) for the i-th event learned.

    Parameters
    ----------
    half_life : events after which the weights of an event count half in the mean; without it all count the same.
    features : see `Learner`.

    Attributes
    ----------
    weights : W, the weight of each feature for each label.
    bias : the weights of the feature that is always on.
    sums : U, the sum of each update times the clock before it.
    bias_sums : U of the bias.
    clock : t, the total weight of the events learned.
    growth : log2 of what the next event counts, with a half-life.

    Raises
    ------
    ConfigError : half_life is outside its limits.
    """

    name = "averaged_perceptron"
    tables = ("weights", "bias", *TABLES)
    kernels = Kernels(learn_batch, learn_event, learn_keyed)

    @checked
    def __init__(self, half_life: Positive | None = None, features: View | Sequence[View] | None = None) -> None:
        super().__init__(features)
        self.half_life = half_life
        self.weights, self.sums = np.zeros((0, 0), np.float32), np.zeros((0, 0))
        self.bias, self.bias_sums = np.zeros(0, np.float32), np.zeros(0)
        self.clock, self.growth = np.zeros(()), np.zeros(())

    @property
    def prior_step(self) -> float:
        """That of the perceptron. A weight from before the first event belongs to all of the mean, so U stays 0."""
        return 1.0

    def mix(self, changes: Sequence[Change]) -> None:
        """W by the perceptron's rule; sums over time add up, see `mix_average`."""
        mix_average(self, changes)

    def why_unmixable(self, most_events: int) -> str | None:
        """A mean with a half-life can't be mixed."""
        return NO_HALF_LIFE if self.half_life is not None else None

    def arguments(self) -> tuple[Any, ...]:
        return (
            self.weights,
            self.bias,
            self.sums,
            self.bias_sums,
            self.clock,
            self.growth,
            growth_rate(self.half_life),
        )

    def effective_weights(self, n_rows: int, n_labels: int, of: Rows = ALL) -> NDArray[np.float64]:
        used = self.state(n_rows, n_labels)
        return mean_weights(used["weights"][of], used["sums"][of], used["clock"])
