"""Multinomial naive Bayes from running counts.

Eisenstein, Linear Models for Statistical NLP (2014), section 2: the estimate of eq. (2.19) ff. with smoothing alpha;
Cestnik, ECAI 1990, 147-149, for smoothing by the prior, the m-estimate.
"""

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from streamlin.features import View
from streamlin.features.rows import Examples
from streamlin.kernel import kernel
from streamlin.kernel.bound_arguments import BoundTuple
from streamlin.learners.base import ALL, Learner, Rows
from streamlin.learners.collapse import collapsed
from streamlin.learners.forgetting import GROWN, growth_rate, scale_down
from streamlin.learners.linear import best_other
from streamlin.learners.parameters import Positive, Share, checked
from streamlin.learners.priors import Priors
from streamlin.learners.step import Kernels, best_score, set_targets
from streamlin.learners.targets import Targets

_LARGEST = 1000
"""log2 of the largest product of factors before its log is taken; float64 ends at 2^1024."""
_BOUND = 2.0 ** (_LARGEST - 1)
_PULSE = 10.0
"""log2 of the factor of the increment when accuracy has collapsed: earlier events then count 1/1024."""


@kernel
def learn_batch(
    indptr: NDArray[np.int64],
    rows: NDArray[np.int32],
    values: NDArray[np.float32],
    rows_before: NDArray[np.int64],
    codes: NDArray[np.int32],
    n_known: NDArray[np.int64],
    event_weights: NDArray[np.float64],
    by_prior: bool,
    alpha: float,
    rate: float,
    reset: float,
    counts: NDArray[np.float64],
    totals: NDArray[np.float64],
    events: NDArray[np.float64],
    n: NDArray[np.float64],
    growth: NDArray[np.float64],
    late_hits: NDArray[np.float64],
    late: NDArray[np.float64],
    long_hits: NDArray[np.float64],
    long: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    """Score, then learn, event by event. Changed in place:

    counts [n_rows, n_labels] : N_kj. totals [n_labels] : N_k. events [n_labels] : n_k.
    n [] : sum_k n_k, kept so that its rounding does not depend on batches.
    growth [] : log2 of the increment u that the next event counts; grows by `rate`. The last four [] : see `collapsed`.
    """
    examples, targets = Examples(indptr, rows, values, rows_before), Targets(codes, n_known, event_weights)
    n_labels = scores.shape[1]
    inverses, offsets, products = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels)
    for i in range(targets.codes.size):
        s, known = scores[i], targets.known[i]
        u = float(np.exp2(growth[()]))
        most = smooth(by_prior, alpha * u, totals, known, examples.rows_before[i], inverses, offsets)
        mass = sum_of_logs(examples, i, counts, known, most, inverses, products, s)
        log_n = np.log(n[()] + max(known, 1) * u)
        for k in range(known):
            s[k] += (np.log(events[k] + u) - log_n) + mass * offsets[k]
        y = targets.codes[i]
        if y < 0:
            continue
        w = targets.weights[i]
        watched = reset > 0.0 and y < known
        if watched and collapsed(best_other(s, -1) == y, w, reset, late_hits, late, long_hits, long):
            growth[()] += _PULSE
            u = float(np.exp2(growth[()]))
        for j in range(examples.indptr[i], examples.indptr[i + 1]):
            added = u * (w * examples.values[j])
            counts[examples.rows[j], y] += added
            totals[y] += added
        events[y] += u * w
        n[()] += u * w
        growth[()] += rate
        if growth[()] >= GROWN:
            growth[()] -= GROWN
            scale_down(counts)
            scale_down(totals.reshape(1, -1))
            scale_down(events.reshape(1, -1))
            scale_down(n.reshape(1, 1))


@kernel
def learn_event(event: BoundTuple, code: int, known: int, weight: float) -> int:
    """`learn_batch` for one event; see `Step`."""
    set_targets(event, code, known, weight)
    learn_batch(*event.items)
    return best_score(event)


@kernel
def smooth(
    by_prior: bool,
    alpha: float,
    totals: NDArray[np.float64],
    n_labels: int,
    n_rows: int,
    inverses: NDArray[np.float64],
    offsets: NDArray[np.float64],
) -> int:
    """Set inverses and offsets so that a feature j of value 1 adds log(1 + N_kj inverse_k) + offset_k.

    Returns how many such factors can be multiplied without overflow, given that N_kj is never above N_k.
    """
    log_alpha, total = np.log(alpha), 0.0
    for k in range(n_labels):
        total += totals[k]
    share, largest = (total if by_prior else 1.0) / alpha, 0.0
    for k in range(n_labels):
        offsets[k] = 0.0 if by_prior else log_alpha - np.log(totals[k] + alpha * max(n_rows, 1))
        inverses[k] = 0.0
        if totals[k] > 0.0:
            inverses[k] = share / totals[k] if by_prior else share
            if totals[k] * inverses[k] > _BOUND:
                inverses[k] = _BOUND / max(totals[k], 1.0)
            largest = max(largest, totals[k] * inverses[k])
    return _LARGEST // math.frexp(1.0 + largest)[1]


@kernel
def sum_of_logs(
    examples: Examples,
    i: int,
    counts: NDArray[np.float64],
    n_labels: int,
    most: int,
    inverses: NDArray[np.float64],
    products: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> float:
    """Set scores[k] = sum_j x_j log(1 + N_kj inverse_k) for event i's n_labels candidates, -inf for the rest.

    For consecutive features of equal value, up to `most` of them, that is the value times the log of a product: most
    of the time would go into logs. Returns sum_j x_j.
    """
    scores[:n_labels] = 0.0
    scores[n_labels:] = -np.inf
    products[:n_labels] = 1.0
    mass, value, factors = 0.0, 1.0, 0
    for j in range(examples.indptr[i], examples.indptr[i + 1]):
        row = examples.rows[j]
        if not 0 <= row < examples.rows_before[i]:
            continue
        x = np.float64(examples.values[j])
        mass += x
        if factors == most or x != value:
            take_logs(value, products, n_labels, scores)
            value, factors = x, 0
        for k in range(n_labels):
            products[k] *= 1.0 + counts[row, k] * inverses[k]
        factors += 1
    take_logs(value, products, n_labels, scores)
    return mass


@kernel
def take_logs(value: float, products: NDArray[np.float64], n_labels: int, scores: NDArray[np.float64]) -> None:
    """Add value * log(product) to the scores, and reset the products to 1."""
    for k in range(n_labels):
        scores[k] += value * np.log(products[k])
        products[k] = 1.0


class NaiveBayes(Learner):
    """Multinomial naive Bayes.

    For counts N_kj of feature j with label k, N_k = sum_j N_kj, N = sum_k N_k, n_k of n events with label k, K labels
    and V features seen::

        score_k = log (n_k + 1) / (n + K) + sum_j x_j log theta_kj
        N_yj += w x_j,   n_y += w

        uniform   theta_kj = (N_kj + alpha) / (N_k + alpha V)
        prior     theta_kj = 1 + N_kj / (alpha N_k / N),   1 where N_k = 0

    The latter is P(k | j) / pi_k for P(k | j) = (N_kj + alpha pi_k) / (N_j + alpha) and pi_k = N_k / N, without a
    factor that is the same for all labels. Features that never occurred with a rare label then do not favour it.

    With a half-life an event counts half as much as one `half_life` events later: the i-th event learned counts
    u = 2^(i / half_life), and the smoothing, alpha and the 1 of the label prior, is multiplied by u.

    With `reset` the learner watches its accuracy. When that of about the last 200 events falls below this share of the
    accuracy over about 2,000, u is multiplied by 1024, so that earlier events hardly count; once for each collapse.

    Parameters
    ----------
    alpha : the smoothing, added to counts; 0.3 suits `smoothing = "uniform"`, 3 suits `"prior"`.
    smoothing : `"uniform"` adds alpha to every count; `"prior"` adds alpha times the label's share of all counts, which
        suits many labels.
    half_life : events after which an event counts half; without it all events count the same.
    reset : if the recent accuracy falls below this share of its earlier value, earlier counts are weighted by 1/1024;
        for example 0.5. Before it can act, the weights of the events must sum to 300. Without it nothing is reset.
    features : see `Learner`; counts or binary values, never length-normalised ones.

    Attributes
    ----------
    counts : N_kj, the weighted count of each feature with each label.
    totals : N_k, the sum of each label's counts.
    events : n_k, the weight of each label's events.
    n : the weight of all events.
    growth : log2 of what the next event counts, with a half-life.
    late_hits : for `reset`, the fading sum of hits among about the last 200 events.
    late : for `reset`, the fading sum of about the last 200 events.
    long_hits : for `reset`, the fading sum of hits among about the last 2,000 events.
    long : for `reset`, the fading sum of about the last 2,000 events.

    Raises
    ------
    ConfigError : a parameter is outside its limits.
    RecordError : a mapping has a negative value.
    """

    name = "naive_bayes"
    tables = ("counts", "totals", "events", "n", "growth", "late_hits", "late", "long_hits", "long")
    kernels = Kernels(learn_batch, learn_event)
    nonnegative_values = True

    @checked
    def __init__(
        self,
        alpha: Positive = 0.3,
        smoothing: Literal["uniform", "prior"] = "uniform",
        half_life: Positive | None = None,
        reset: Share | None = None,
        features: View | None = None,
    ) -> None:
        super().__init__(features)
        self.alpha, self.smoothing, self.half_life, self.reset = alpha, smoothing, half_life, reset
        self.counts, self.totals, self.events = np.zeros((0, 0)), np.zeros(0), np.zeros(0)
        self.n, self.growth = np.zeros(()), np.zeros(())
        self.late_hits, self.late, self.long_hits, self.long = (np.zeros(()) for _ in range(4))

    def arguments(self) -> tuple[Any, ...]:
        return (
            self.smoothing == "prior",
            self.alpha,
            growth_rate(self.half_life),
            self.reset or 0.0,
            self.counts,
            self.totals,
            self.events,
            self.n,
            self.growth,
            self.late_hits,
            self.late,
            self.long_hits,
            self.long,
        )

    @property
    def takes_priors(self) -> bool:
        return True

    def start_with(self, priors: Priors) -> None:
        """N_kj starts with the strengths, N_k with the largest of them: the same for all labels.

        With the sums of their strengths, the label for which fewer words are set would win every other word. No N_kj is
        above N_k, on which `smooth` relies.
        """
        self.counts[priors.rows, priors.codes] = priors.strengths
        self.totals[: priors.n_labels] = priors.strengths.max(initial=0.0)

    def effective_weights(self, n_rows: int, n_labels: int, of: Rows = ALL) -> NDArray[np.float64]:
        used, (inverses, offsets) = self.state(n_rows, n_labels), np.empty((2, n_labels))
        alpha = self.alpha * float(np.exp2(self.growth))
        smooth(self.smoothing == "prior", alpha, used["totals"], n_labels, n_rows, inverses, offsets)
        weights: NDArray[np.float64] = np.log1p(used["counts"][of] * inverses) + offsets
        return weights
