"""Multinomial naive Bayes from running counts.

Eisenstein, Linear Models for Statistical NLP (2014), section 2: the estimate of eq. (2.19) ff. with smoothing alpha;
Cestnik, ECAI 1990, 147-149, for smoothing by the prior, the m-estimate.
"""

from collections.abc import Sequence
from itertools import chain
from operator import is_
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import ConfigError
from streamlin.features import View
from streamlin.features.rows import Examples, prefetch_rows
from streamlin.kernel import kernel
from streamlin.kernel.bound_arguments import BoundTuple
from streamlin.kernel.late import late_kernel
from streamlin.learners.base import ALL, Learner, Rows
from streamlin.learners.by_key import KeyedEvents, of_key
from streamlin.learners.collapse import PULSE, collapsed
from streamlin.learners.forgetting import GROWN, growth_rate, scale_down, scale_down_row
from streamlin.learners.likelihoods import add_priors, smooth, sum_of_logs
from streamlin.learners.linear import best_other
from streamlin.learners.mixing import Change, add_mean, add_sum, add_sums
from streamlin.learners.parameters import Caps, Positive, Share, checked
from streamlin.learners.priors import Priors
from streamlin.learners.soft_counts import answering, have_begun, learn_batch_softly, learn_event_softly
from streamlin.learners.step import Kernels, best_score, set_targets
from streamlin.learners.targets import Targets

_OF_A_CAP = {"counts": 2, "totals": 1, "soft_events": 1, "lead": 0, "lead_squares": 0}
"""The tables of a model that learns texts without a label, and their dimensions."""


@late_kernel
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
        prefetch_rows(examples, i + 1, counts)
        s, known = scores[i], targets.known[i]
        u = float(np.exp2(growth[()]))
        most = smooth(by_prior, alpha * u, totals, known, examples.rows_before[i], inverses, offsets)
        mass = sum_of_logs(examples, i, counts, known, most, inverses, products, s)
        log_n = np.log(n[()] + max(known, 1) * u)
        add_priors(events, u, log_n, mass, offsets, known, s)
        y = targets.codes[i]
        if y < 0:
            continue
        w = targets.weights[i]
        watched = reset > 0.0 and y < known
        if watched and collapsed(best_other(s, -1) == y, w, reset, late_hits, late, long_hits, long):
            growth[()] += PULSE
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
            scale_down_row(totals)
            scale_down_row(events)
            n[()] = np.ldexp(n[()], -64)


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

    With `unlabelled` texts without a label are learned, too. For each cap c there is a model of its own that adds such
    a text, with its own probability q_k of label k from before, and the sum U_k of such additions so far::

        a_k = w min(1, c n_k / U_k) q_k
        N_kj += a_k x_j,   U_k += a_k

    The prior, n_k, comes from labels only. Races on labelled events (`streamlin.learners.race`) decide which model
    answers: the one without such texts, but the one with the first cap once that beats it, and so on. Before the first
    labelled event, where words are set by hand, a_k = 0.1 w q_k, and the model with the last cap answers.

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
    unlabelled : caps for the share of texts without a label in each label's counts, `[0.3, 1.0]` for example; texts
        without a label are then learned, where that has proved better. Needs `smoothing = "prior"`.
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
    counts_1 : with `unlabelled`, N_kj of the model with the first cap, once there was a text without a label; the
        arrays of the second one end in 2, and so on.
    totals_1 : with `unlabelled`, N_k of that model.
    soft_events_1 : with `unlabelled`, U_k, the weight of each label in texts without a label.
    lead_1 : with `unlabelled`, S of that model's race with the one before.
    lead_squares_1 : with `unlabelled`, Q of that race.

    Raises
    ------
    ConfigError : a parameter is outside its limits, or `unlabelled` is given without `smoothing = "prior"`.
    RecordError : a mapping has a negative value.
    """

    name = "naive_bayes"
    tables: tuple[str, ...] = (
        *("counts", "totals", "events", "n", "growth", "late_hits", "late", "long_hits", "long"),
        *(f"{name}_1" for name in _OF_A_CAP),
    )
    kernels = Kernels(learn_batch, learn_event, learn_keyed)
    nonnegative_values = True

    @checked
    def __init__(
        self,
        alpha: Positive = 0.3,
        smoothing: Literal["uniform", "prior"] = "uniform",
        half_life: Positive | None = None,
        reset: Share | None = None,
        unlabelled: Caps | None = None,
        features: View | Sequence[View] | None = None,
    ) -> None:
        if unlabelled is not None and smoothing != "prior":
            raise ConfigError(f"naive_bayes.unlabelled needs smoothing = 'prior', got '{smoothing}'")
        super().__init__(features)
        self.alpha, self.smoothing, self.half_life, self.reset = alpha, smoothing, half_life, reset
        self.unlabelled, self.learns_unlabelled = unlabelled, unlabelled is not None
        self._caps = np.array(unlabelled or ())
        self.counts, self.totals, self.events = np.zeros((0, 0)), np.zeros(0), np.zeros(0)
        self.n, self.growth = np.zeros(()), np.zeros(())
        self.late_hits, self.late, self.long_hits, self.long = (np.zeros(()) for _ in range(4))
        for number in range(1, max(1, self._caps.size) + 1):
            for name, dimensions in _OF_A_CAP.items():
                setattr(self, f"{name}_{number}", np.zeros((0,) * dimensions))
        plain = self.tables[: -len(_OF_A_CAP)]
        self.tables = (*plain, *(f"{name}_{m}" for m in range(1, self._caps.size + 1) for name in _OF_A_CAP))

    def kernels_in_use(self) -> Kernels:
        return Kernels(learn_batch_softly, learn_event_softly) if self.learns_unlabelled else self.kernels

    def mix(self, changes: Sequence[Change]) -> None:
        """Counts add up exactly. So does what the increment grows by, where each shard's begins at the same.

        If shards have found a collapse, it happened once. Their memories of hits are averaged.
        """
        add_sums(self.counts, changes, "counts")
        for name in ("totals", "events", "n"):
            add_sum(getattr(self, name), changes, name)
        for name in ("late_hits", "late", "long_hits", "long"):
            add_mean(getattr(self, name), changes, name)
        grown = [divmod(float(change.numbers["growth"]), PULSE) for change in changes]
        self.growth[()] += sum(rest for _, rest in grown) + PULSE * max((pulses for pulses, _ in grown), default=0.0)
        while self.growth[()] >= 0.5 * GROWN:
            self._scale_down()

    def _scale_down(self) -> None:
        """Divide all sums by 2^32, so that no shard has to."""
        for table in (self.counts, self.totals, self.events, self.n):
            np.ldexp(table, -int(0.5 * GROWN), out=table)
        self.growth[()] -= 0.5 * GROWN

    def why_unmixable(self, most_events: int) -> str | None:
        """Texts without a label are not mixed; the increment of a shard must not outgrow its sums."""
        if self.learns_unlabelled:
            return "naive_bayes with unlabelled learns texts without a label, which shards can't mix"
        if self.half_life is not None and most_events > PULSE * self.half_life:
            most = f"{PULSE * self.half_life:,.0f}"
            return f"with half_life = {self.half_life:g} rounds must have at most {most} events (mixing.max_events)"
        return None

    def arguments(self) -> tuple[Any, ...]:
        if self.learns_unlabelled:
            return self._soft_arguments()
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
        alpha, of_cap = self.alpha * float(np.exp2(self.growth)), f"_{self.answers}" if self.answers else ""
        smooth(self.smoothing == "prior", alpha, used[f"totals{of_cap}"], n_labels, n_rows, inverses, offsets)
        weights: NDArray[np.float64] = np.log1p(used[f"counts{of_cap}"][of] * inverses) + offsets
        return weights

    @property
    def answers(self) -> int:
        """The number of the cap whose model answers now; 0: the model of labelled events alone."""
        if not self.learns_unlabelled or not have_begun(self._of_caps("soft_events")[0][0]):
            return 0
        leads, squares = self._of_caps("lead", "lead_squares")
        return int(answering(leads, squares, self.n))

    def _soft_arguments(self) -> tuple[Any, ...]:
        """Those of `learn_batch_softly`; the same tuples as long as no table is replaced."""
        counts, totals, *of_caps = self._of_caps(*_OF_A_CAP)
        given = ((self.counts, *counts), (self.totals, *totals), *of_caps)
        kept = self.__dict__.get("_tables_of_caps")
        if kept is None or not all(map(is_, chain(*kept), chain(*given))):
            kept = self._tables_of_caps = given
        return (
            self._caps,
            self.alpha,
            growth_rate(self.half_life),
            self.reset or 0.0,
            *kept,
            self.events,
            self.n,
            self.growth,
            self.late_hits,
            self.late,
            self.long_hits,
            self.long,
        )

    def _of_caps(self, *names: str) -> list[tuple[NDArray[np.float64], ...]]:
        """Tables of the models with caps, one for each cap."""
        return [tuple(getattr(self, f"{name}_{m}") for m in range(1, self._caps.size + 1)) for name in names]
