"""Passive-aggressive learning: PA, which is MIRA, and its variants PA-I and PA-II with slack; averaged or not.

Crammer et al., JMLR 7 (2006) 551-585, figure 1; the multiclass form of section 5. Crammer, Singer, JMLR 3 (2003)
951-991, for MIRA, here in the form with one rival; McDonald, Crammer, Pereira, ACL 2005, 91-98, for its mean, which is
kept lazily, see `streamlin.learners.averaging`.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import ConfigError
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
from streamlin.learners.linear import add_scaled, best_other, linear_scores, squared_length
from streamlin.learners.mixing import Change, add_mean, add_means
from streamlin.learners.parameters import Positive, PositiveOrInfinite, checked
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
    C: float,
    softness: float,
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    averaged: bool,
    sums: NDArray[np.float64],
    bias_sums: NDArray[np.float64],
    clock: NDArray[np.float64],
    growth: NDArray[np.float64],
    rate: float,
    scores: NDArray[np.float64],
) -> None:
    """Score, then learn, event by event; weights [n_rows, n_labels] and bias [n_labels] are changed in place.

    C : the largest step. softness : added to 2 ||x||^2. sums, bias_sums, clock, growth, rate : see `Average`.
    """
    examples, targets = Examples(indptr, rows, values, rows_before), Targets(codes, n_known, event_weights)
    average = Average(sums, bias_sums, clock, growth, rate)
    current = np.empty(scores.shape[1])
    for i in range(targets.codes.size):
        prefetch_rows(examples, i + 1, weights)
        if averaged:
            prefetch_rows(examples, i + 1, sums)
        s, known = current if averaged else scores[i], targets.known[i]
        linear_scores(examples, i, weights, bias, 1.0, known, s)
        if averaged:
            mean_scores(examples, i, average, s, known, scores[i])
        y = np.int64(targets.codes[i])
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
            if averaged:
                add_late(examples, i, step, average, y)
                add_late(examples, i, -step, average, rival)
        if averaged:
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


@cache
def softness(C: float) -> float:
    """The term that PA-II adds to 2 ||x||^2; the same object for the same C, see `Learner.arguments`."""
    return 0.5 / C


class PassiveAggressive(Learner):
    """Multiclass PA-I, or PA-II; without slack PA, also called MIRA.

    For an example x (its bias feature included) with label y, and the best scored other label r::

        loss = max(0, 1 - W_y.x + W_r.x)
        tau  = min(C, loss / (2 ||x||^2))              PA-I; with C = inf PA
        tau  = loss / (2 ||x||^2 + 1 / (2 C))          PA-II
        W_y += w tau x,   W_r -= w tau x

    Averaged, it learns so from the losses of the current W, and predicts with the mean of W over the events learned,
    as `AveragedPerceptron` does: W - U / t after t events, where each step also adds its change times t to U.

    Parameters
    ----------
    C : the largest step of PA-I; for PA-II the smaller it is, the more every step shrinks. Smaller for noisier labels;
        `inf` for no slack: each step of weight 1 then reaches the margin.
    variant : 1 for PA-I, which clips large steps; 2 for PA-II, which shrinks every step instead.
    averaged : predict with the mean of the weights over time.
    half_life : with averaged, events after which the weights of an event count half in the mean; without it all count
        the same.
    features : see `Learner`; unnormalised values.

    Attributes
    ----------
    weights : W, the weight of each feature for each label.
    bias : the weights of the feature that is always on.
    sums : with averaged, U, the sum of each update times the clock before it.
    bias_sums : with averaged, U of the bias.
    clock : with averaged, t, the total weight of the events learned.
    growth : with averaged, log2 of what the next event counts, with a half-life.

    Raises
    ------
    ConfigError : a parameter is outside its limits.
    """

    name = "passive_aggressive"
    tables: tuple[str, ...] = ("weights", "bias", *TABLES)
    kernels = Kernels(learn_batch, learn_event, learn_keyed)

    @checked
    def __init__(
        self,
        C: PositiveOrInfinite = 0.1,
        variant: Literal[1, 2] = 1,
        averaged: bool = False,
        half_life: Positive | None = None,
        features: View | Sequence[View] | None = None,
    ) -> None:
        if half_life is not None and not averaged:
            raise ConfigError(f"passive_aggressive.half_life is of the mean: it needs averaged = true, got {half_life}")
        super().__init__(features)
        self.C, self.variant, self.averaged, self.half_life = C, variant, averaged, half_life
        self.tables = self.tables if averaged else ("weights", "bias")
        self.weights, self.sums = np.zeros((0, 0), np.float32), np.zeros((0, 0))
        self.bias, self.bias_sums = np.zeros(0, np.float32), np.zeros(0)
        self.clock, self.growth = np.zeros(()), np.zeros(())

    @property
    def prior_step(self) -> float:
        """tau, where ||x||^2 is 2: the word and the bias."""
        return min(self.C, 0.25) if self.variant == 1 else 1.0 / (4.0 + softness(self.C))

    def mix(self, changes: Sequence[Change]) -> None:
        """The perceptron's rule, for W; averaged, sums over time add up, see `mix_average`."""
        if self.averaged:
            mix_average(self, changes)
            return
        add_means(self.weights, changes, "weights")
        add_mean(self.bias, changes, "bias")

    def why_unmixable(self, most_events: int) -> str | None:
        """A mean with a half-life can't be mixed."""
        return NO_HALF_LIFE if self.half_life is not None else None

    def arguments(self) -> tuple[Any, ...]:
        return (
            *((self.C, 0.0) if self.variant == 1 else (np.inf, softness(self.C))),
            self.weights,
            self.bias,
            self.averaged,
            self.sums,
            self.bias_sums,
            self.clock,
            self.growth,
            growth_rate(self.half_life),
        )

    def effective_weights(self, n_rows: int, n_labels: int, of: Rows = ALL) -> NDArray[np.floating[Any]]:
        if not self.averaged:
            return super().effective_weights(n_rows, n_labels, of)
        used = self.state(n_rows, n_labels)
        return mean_weights(used["weights"][of], used["sums"][of], used["clock"])
