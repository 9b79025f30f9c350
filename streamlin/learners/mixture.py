"""A mixture of other learners: a log-linear pool of their scores, learned online on the log loss.

Genest, Zidek, Statistical Science 1 (1986) 114-148, for the pool; Guo and others, ICML 2017, for temperatures; Duchi,
Hazan, Singer, JMLR 12 (2011) 2121-2159, for the steps, whose sums of squares fade here to follow a changing stream.
"""

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamlin.learners.mixing import Change
from streamlin.learners.mixture_kernels import centre, member_factor, mix_batch, output_temperature
from streamlin.learners.tables import Array, grown
from streamlin.learners.targets import Targets
from streamlin.storage.arrays import Expected, expected, like

_START = 1.5
"""The sum of the members' first weights, if none are given."""
_FADING_SUMS = ("weight_squares", "label_squares", "temperature_squares", "spreads", "seen", "output_squares")
_APPROACH = 150.0
"""Events after which a parameter is taken to be 1/e as far from its optimum as before."""


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
