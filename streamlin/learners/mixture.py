"""A mixture of other learners: a log-linear pool of their scores, learned online on the log loss.

Genest, Zidek, Statistical Science 1 (1986) 114-148, for the pool; Guo and others, ICML 2017, for temperatures; Duchi,
Hazan, Singer, JMLR 12 (2011) 2121-2159, for the steps, whose sums of squares fade here to follow a changing stream.
"""

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.learners.exponentials import exponentials
from streamlin.learners.mixing import Change
from streamlin.learners.tables import Array, grown
from streamlin.learners.targets import Targets
from streamlin.storage.arrays import Expected, expected, like

_START = 1.5
"""The sum of the members' first weights, if none are given."""
_SPREAD_FADING, _FADING, _OUTPUT_FADING = 0.999, 0.998, 0.9995
_WEIGHT_STEP, _LABEL_STEP, _TEMPERATURE_STEP, _OUTPUT_STEP = 0.05, 0.02, 0.1, 0.05
_FADING_SUMS = ("weight_squares", "label_squares", "temperature_squares", "spreads", "seen", "output_squares")
_APPROACH = 150.0
"""Events after which a parameter is taken to be 1/e as far from its optimum as before."""
_TINY = 1e-12
_LARGEST = 3.0
"""The bound on the log of the output's temperature."""


@kernel
def mix_batch(
    member_scores: NDArray[np.float64],
    targets: Targets,
    weights: NDArray[np.float64],
    weight_squares: NDArray[np.float64],
    label_weights: NDArray[np.float64],
    label_squares: NDArray[np.float64],
    temperatures: NDArray[np.float64],
    temperature_squares: NDArray[np.float64],
    spreads: NDArray[np.float64],
    seen: NDArray[np.float64],
    first_variances: NDArray[np.float64],
    output: NDArray[np.float64],
    output_squares: NDArray[np.float64],
    centred: NDArray[np.float64],
    shares: NDArray[np.float64],
    pool: NDArray[np.float64],
    slopes: NDArray[np.float64],
    variances: NDArray[np.float64],
    powers: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    """Score, then learn, event by event, from scores float64[M, n, n_labels] made before each event.

    first_variances [M]: see `Mixture`. Changed in place: weights w, temperatures t, spreads, squares of each [M];
    label_weights v [n_labels, M]; seen []; output (a, b) and its squares [2]. centred [M, n_labels], shares, pool
    [n_labels], slopes, variances [M], powers [2, n_labels] : scratch.
    """
    for i in range(targets.codes.size):
        n, y, out = targets.known[i], targets.codes[i], scores[i]
        for k in range(out.size):
            out[k] = -np.inf
        if n == 0:
            continue
        learns = 0 <= y < n and n > 1
        for m in range(weights.size):
            variances[m] = centre(member_scores[m, i], n, centred[m])
            factor = member_factor(m, variances[m], temperatures, spreads, seen, first_variances)
            for k in range(n):
                centred[m, k] *= factor
            if learns:
                slopes[m] = expectation(centred[m], centred[m], n, powers) - centred[m, y]
        total = pooled(centred, weights, label_weights, n, pool, powers)
        sureness = 1.0 / total - 0.5
        temperature = output_temperature(output, sureness)
        for k in range(n):
            out[k] = temperature * pool[k]
        if y < 0:
            continue
        w = targets.weights[i]
        seen[()] = _SPREAD_FADING * seen[()] + w
        for m in range(weights.size):
            spreads[m] = _SPREAD_FADING * spreads[m] + w * variances[m]
        if not learns:
            continue
        for k in range(n):
            shares[k] = w * (powers[0, k] / total)
        slope = w * temperature * (expectation(out, pool, n, powers) - pool[y])
        fading_step(output, 0, output_squares, slope, _OUTPUT_FADING, _OUTPUT_STEP)
        fading_step(output, 1, output_squares, slope * sureness, _OUTPUT_FADING, _OUTPUT_STEP)
        shares[y] -= w
        for m in range(weights.size):
            slope = label_steps(shares, centred[m], n, label_weights, m, label_squares)
            fading_step(weights, m, weight_squares, slope, _FADING, _WEIGHT_STEP)
            fading_step(temperatures, m, temperature_squares, w * slopes[m], _FADING, _TEMPERATURE_STEP)


@kernel
def centre(scores: NDArray[np.float64], n: int, centred: NDArray[np.float64]) -> float:
    """Set centred to n scores minus their mean; returns their variance. If they have overflowed all are 0."""
    mean = 0.0
    for k in range(n):
        mean += scores[k]
    mean /= n
    squares = 0.0
    for k in range(n):
        centred[k] = scores[k] - mean
        squares += centred[k] * centred[k]
    if not np.isfinite(squares):
        for k in range(n):
            centred[k] = 0.0
        return 0.0
    return squares / n


@kernel
def member_factor(
    m: int,
    variance: float,
    temperatures: NDArray[np.float64],
    spreads: NDArray[np.float64],
    seen: NDArray[np.float64],
    first_variances: NDArray[np.float64],
) -> float:
    """The factor for member m's centred scores, which have this variance."""
    spread = spreads[m] / seen[()] if spreads[m] > 0.0 else variance
    if spread > first_variances[m]:
        early = max(0.0, 1.0 - (1.0 - _SPREAD_FADING) * float(seen[()]))
        spread = early * first_variances[m] + (1.0 - early) * spread
    return np.exp(temperatures[m]) / np.sqrt(spread) if spread > 0.0 else 1.0


@kernel
def output_temperature(output: NDArray[np.float64], sureness: float) -> float:
    """The factor for the pool."""
    return float(np.exp(min(_LARGEST, max(-_LARGEST, output[0] + output[1] * sureness))))


@kernel
def expectation(scores: NDArray[np.float64], values: NDArray[np.float64], n: int, powers: NDArray[np.float64]) -> float:
    """The mean of n values, weighted by the softmax of n scores. powers : scratch, see `exponentials`."""
    top = scores[0]
    for k in range(n):
        top = max(top, scores[k])
    total, weighed = exponentials(scores, n, top, powers), 0.0
    for k in range(n):
        weighed += powers[0, k] * values[k]
    return float(weighed / total)


@kernel
def pooled(
    centred: NDArray[np.float64],
    weights: NDArray[np.float64],
    label_weights: NDArray[np.float64],
    n: int,
    pool: NDArray[np.float64],
    powers: NDArray[np.float64],
) -> float:
    """Set pool to sum_m (w_m + v_mk) c_mk minus its maximum, powers[0] to its exponentials; returns their sum."""
    top = -np.inf
    for k in range(n):
        pool[k] = 0.0
        for m in range(weights.size):
            pool[k] += (weights[m] + label_weights[k, m]) * centred[m, k]
        top = max(top, pool[k])
    for k in range(n):
        pool[k] -= top
    return exponentials(pool, n, 0.0, powers)


@kernel
def label_steps(
    errors: NDArray[np.float64],
    centred: NDArray[np.float64],
    n: int,
    label_weights: NDArray[np.float64],
    m: int,
    squares: NDArray[np.float64],
) -> float:
    """Step the label weights of member m, with one sum of squares for all labels; returns the gradient of w_m."""
    slope, squared = 0.0, 0.0
    for k in range(n):
        gradient = errors[k] * centred[k]
        slope += gradient
        squared += gradient * gradient
    squares[m] = _FADING * squares[m] + squared
    step = _LABEL_STEP / np.sqrt(squares[m] + _TINY)
    for k in range(n):
        label_weights[k, m] -= step * (errors[k] * centred[k])
    return slope


@kernel
def fading_step(
    values: NDArray[np.float64],
    i: int,
    squares: NDArray[np.float64],
    gradient: float,
    fading: float,
    step: float,
) -> None:
    """An Adagrad step with a fading sum: G <- fading G + g^2, value -= step g / sqrt(G)."""
    squares[i] = fading * squares[i] + gradient * gradient
    values[i] -= step * gradient / np.sqrt(squares[i] + _TINY)


class Mixture:
    """A log-linear pool of M other learners.

    For member m's score S_mk of label k, made before learning, and c_mk = S_mk - mean S_m over known labels::

        c_mk *= e^t_m / sqrt(V_m)      V_m: running mean of c_m's variance, which fades by 0.999 an event
        z_k   = sum_m (w_m + v_mk) c_mk;   p = softmax z
        score = e^(a + b (max p - 1/2)) z_k                       its softmax is the confidence

    Each parameter then takes an Adagrad step on a log loss: w (initially `start`) and v (0) on that of the pool, a and
    b (0) on that of the output, t (0) on that of softmax c_m. A label that is not a candidate yet teaches nothing.

    Weights may become negative: then a member that is always wrong is as useful as one that is right.

    A member may have a first variance F_m, inf by default. Where V_m is above it, V_m counts, after n labelled events::

        V_m = f F_m + (1 - f) V_m,   f = 0.999^n

    The scores of naive Bayes are logarithms of probabilities: with few labels, long texts on which it is surer by
    themselves than short ones then keep more of that.

    Parameters
    ----------
    members : their number M.
    start : the members' first weights; by default 1.5/M each.
    first_variances : F_m of each member, above 0.
    """

    name: ClassVar[str] = "mixture"
    calibrated: ClassVar[bool] = True
    kept: ClassVar[tuple[str, ...]] = (
        *("weights", "weight_squares", "label_weights", "label_squares", "temperatures", "temperature_squares"),
        *("spreads", "seen", "output", "output_squares"),
    )
    """What a checkpoint holds."""
    tables: ClassVar[tuple[str, ...]] = (*kept, "events")
    """What shards bring; `events`, how many labelled ones there were, tells how much they have learned in a round.

    It is not mixed, so that a run that was restarted, which counts from 0, has the same differences to the bit.
    """

    def __init__(
        self, members: int, start: Sequence[float] | None = None, first_variances: Sequence[float] | None = None
    ) -> None:
        self.weights, self.weight_squares = np.array(start or [_START / members] * members), np.zeros(members)
        self.label_weights, self.label_squares = np.zeros((0, members)), np.zeros(members)
        self.temperatures, self.temperature_squares = np.zeros(members), np.zeros(members)
        self.spreads, self.seen = np.zeros(members), np.zeros(())
        self.first_variances = np.array(first_variances or [np.inf] * members)
        self.output, self.output_squares = np.zeros(2), np.zeros(2)
        self.events = np.zeros(())

    def score_then_learn(
        self, member_scores: NDArray[np.float64], targets: Targets, scores: NDArray[np.float64]
    ) -> None:
        """Set scores float64[n, n_labels] from the members' float64[M, n, n_labels], and learn, event by event."""
        n_labels, members = scores.shape[1], self.weights.size
        self.events += np.count_nonzero(targets.codes >= 0)
        mix_batch(
            member_scores,
            targets,
            self.weights,
            self.weight_squares,
            self.label_weights,
            self.label_squares,
            self.temperatures,
            self.temperature_squares,
            self.spreads,
            self.seen,
            self.first_variances,
            self.output,
            self.output_squares,
            np.empty((members, n_labels)),
            np.empty(n_labels),
            np.empty(n_labels),
            np.empty(members),
            np.empty(members),
            np.empty((2, n_labels)),
            scores,
        )

    def mix(self, changes: Sequence[Change]) -> None:
        """Parameters change by a times the mean over n shards, sums that fade by the mean.

        A shard that brings a parameter closer to its optimum by e^-(1/150) with each of m events moves it by
        1 - e^-(m/150) of the distance, and one that learned all of them would move it by as much for their sum M::

            a = min(sqrt(n), n (1 - e^-(M/150)) / sum_i (1 - e^-(m_i/150)))

        So a falls from n where rounds are short, and shards go the same way, to 1 where they are long, and each arrives
        by itself; there a sum would leave it further from the optimum than before. But not above sqrt(n): the first
        Adagrad steps are large, and n times as many of them go sqrt(n) times as far. For the mean see McDonald, Hall,
        Mann, NAACL 2010, 456-464.
        """
        if not changes:
            return
        mean = 1.0 / len(changes)
        events = [float(change.numbers["events"]) for change in changes]
        moved = sum(_approached(own) for own in events)
        share = min(math.sqrt(mean), _approached(sum(events)) / moved)
        for name in self.kept:
            table, factor = getattr(self, name), mean if name in _FADING_SUMS else share
            for change in changes:
                table[change.columns if name == "label_weights" else ...] += factor * change.numbers[name]

    def linear(self, member_scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """The pool of one text as a linear function of the members' scores float64[M, n_labels].

        Returns factors float64[M, n_labels] and an offset: the mixture's score of label k is
        sum_m factors_mk (S_mk - mean S_m) - offset. The confidence of the pool, its maximum and, before anything is
        learned, the members' variances depend on the whole text; they are constants in the factors and the offset.
        """
        centred, factors = np.empty(member_scores.shape), np.empty((len(member_scores), 1))
        for m, scores in enumerate(member_scores):
            variance = centre(scores, scores.size, centred[m])
            with np.errstate(all="ignore"):
                overflowed = not np.isfinite(np.square(scores - scores.mean()).sum())
            state = self.temperatures, self.spreads, self.seen, self.first_variances
            factors[m] = 0.0 if overflowed else member_factor(m, variance, *state)
        trust = self.weights[:, np.newaxis] + self.label_weights[: member_scores.shape[1]].T
        factors = factors * trust
        pool = (factors * centred).sum(axis=0)
        top = pool.max()
        temperature = output_temperature(self.output, 1.0 / np.exp(pool - top).sum() - 0.5)
        return temperature * factors, float(temperature * top)

    def grow(self, n_labels: int) -> None:
        """Make room for labels."""
        used = len(self.label_weights)
        self.label_weights = grown(self.label_weights, (n_labels, self.weights.size), used)

    def state(self, n_labels: int) -> dict[str, Array]:
        """Every table that is kept, cut to the labels in use; views, not copies."""
        self.grow(n_labels)
        return {name: getattr(self, name) for name in self.kept} | {"label_weights": self.label_weights[:n_labels]}

    def expected(self, n_labels: int) -> dict[str, Expected]:
        """What the tables of a `state` with so many labels must be."""
        tables = {name: like(getattr(self, name)) for name in self.kept}
        return tables | {"label_weights": expected(np.float64, n_labels, self.weights.size)}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Use the tables of a `state`, without copying them."""
        for name in self.kept:
            setattr(self, name, state[name])


def _approached(events: float) -> float:
    """The part of the way to its optimum that a parameter is taken to go within so many events."""
    return -math.expm1(-events / _APPROACH)
