"""Plain stochastic gradient descent on the losses of perceptron, logistic regression and support vector machine.

Bottou, Stochastic Gradient Descent Tricks, in Neural Networks: Tricks of the Trade (2012) 421-436, for the rates (that
of its section 5.2 is `"bottou"`) and for weights as a scale times a vector; Shalev-Shwartz and others, Mathematical
Programming 127 (2011) 3-30, for Pegasos; Eisenstein, Linear Models for Statistical NLP (2014), sections 3 to 5, for the
losses.
"""

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import ConfigError
from streamlin.features import View
from streamlin.features.rows import Examples, prefetch_rows
from streamlin.kernel import inlined_kernel, kernel
from streamlin.kernel.bound_arguments import BoundTuple
from streamlin.kernel.late import beside, late_kernel
from streamlin.learners import by_numpy
from streamlin.learners.base import ALL, Learner, Rows
from streamlin.learners.by_key import KeyedEvents, of_key
from streamlin.learners.linear import best_other, linear_scores, scale_to_one, softmax_errors
from streamlin.learners.mixing import Change, add_by_size, add_sum
from streamlin.learners.parameters import NonNegative, Positive, checked
from streamlin.learners.priors import Priors
from streamlin.learners.step import Kernels, best_score, set_targets
from streamlin.learners.targets import Targets

Loss = Literal["perceptron", "log", "hinge"]
Rate = Literal["constant", "inverse", "inverse_sqrt", "pegasos", "bottou"]
_LOSSES, _RATES = get_args(Loss), get_args(Rate)
_PERCEPTRON, _LOG, _HINGE = range(3)
_CONSTANT, _INVERSE, _INVERSE_SQRT, _PEGASOS, _BOTTOU = range(5)
_SMALLEST = 1e-4
"""The scale at which it is multiplied into the weights, since float32 weights must not outgrow their precision."""


@late_kernel
def learn_batch(
    indptr: NDArray[np.int64],
    rows: NDArray[np.int32],
    values: NDArray[np.float32],
    rows_before: NDArray[np.int64],
    codes: NDArray[np.int32],
    n_known: NDArray[np.int64],
    event_weights: NDArray[np.float64],
    loss: int,
    rate: int,
    eta: float,
    l2: float,
    normalize: bool,
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    shrunk: NDArray[np.float64],
    clock: NDArray[np.int64],
    scores: NDArray[np.float64],
) -> None:
    """Score, then learn, event by event.

    weights [n_rows, n_labels] : W / exp(shrunk), so that one addition shrinks all W. bias [n_labels] : not shrunk.
    shrunk [], clock [] (the number of events learned) : these four are changed in place.
    """
    examples, targets = Examples(indptr, rows, values, rows_before), Targets(codes, n_known, event_weights)
    errors = np.empty(scores.shape[1])
    for i in range(targets.codes.size):
        prefetch_rows(examples, i + 1, weights)
        s, known = scores[i], targets.known[i]
        scale = scale_to_one(examples, i) if normalize else 1.0
        linear_scores(examples, i, weights, bias, scale * float(np.exp(shrunk[()])), known, s)
        y = targets.codes[i]
        if y < 0 or best_other(s, y) < 0:
            continue
        clock[()] += 1
        step = rate_at(rate, eta, l2, int(clock[()]))
        factor = shrink(1.0 - step * l2, weights, shrunk)
        n_labels = loss_errors(loss, s, known, y, errors)
        step *= targets.weights[i]
        take_steps(examples, i, scale, errors, n_labels, step, factor, weights, bias)


@inlined_kernel
@beside(by_numpy.gradient_steps)
def take_steps(
    examples: Examples,
    i: int,
    scale: float,
    errors: NDArray[np.float64],
    n_labels: int,
    step: float,
    factor: float,
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
) -> None:
    """The steps of event i: those of the labels that have an error."""
    for k in range(n_labels):
        if errors[k] == 0.0:
            continue
        change = -step * errors[k]
        for j in range(examples.indptr[i], examples.indptr[i + 1]):
            weights[examples.rows[j], k] += change * (scale * np.float64(examples.values[j])) / factor
        bias[k] += change


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


@kernel
def rate_at(rate: int, eta: float, l2: float, t: int) -> float:
    """The step size of the t-th event learned, counted from 1."""
    if rate == _INVERSE:
        return eta / t
    if rate == _INVERSE_SQRT:
        return float(eta / np.sqrt(t))
    if rate == _PEGASOS:
        return 1.0 / (l2 * t)
    if rate == _BOTTOU:
        return eta / (1.0 + eta * l2 * (t - 1))
    return eta


@kernel
def shrink(by: float, weights: NDArray[np.float32], shrunk: NDArray[np.float64]) -> float:
    """Multiply all W by a number from 0 to 1; returns the factor from `weights` to W."""
    if by != 1.0:
        shrunk[()] += np.log(max(by, 0.0))
    factor = float(np.exp(shrunk[()]))
    if factor < _SMALLEST:
        scale_all(weights, factor)
        shrunk[()] = 0.0
        factor = 1.0
    return factor


def _scale_all(weights: NDArray[np.float32], factor: float) -> None:
    """As `scale_all`, in numpy."""
    weights *= np.float64(factor)


@kernel
@beside(_scale_all)
def scale_all(weights: NDArray[np.float32], factor: float) -> None:
    """Multiply all weights by a factor, in 64 bits."""
    for row in range(weights.shape[0]):
        for k in range(weights.shape[1]):
            weights[row, k] *= factor


@kernel
def loss_errors(loss: int, scores: NDArray[np.float64], known: int, y: int, errors: NDArray[np.float64]) -> int:
    """Set errors[k] to the loss's derivative by score k, return their number; if y is no candidate its score is 0."""
    if loss == _LOG:
        return softmax_errors(scores, known, y, errors)
    n_labels = max(known, y + 1)
    errors[:n_labels] = 0.0
    own = scores[y] if y < known else 0.0
    rival = best_other(scores, y) if loss == _HINGE else best_other(scores, -1)
    if rival != y and (loss == _PERCEPTRON or 1.0 - own + scores[rival] > 0.0):
        errors[y], errors[rival] = -1.0, 1.0
    return n_labels


class StochasticGradientDescent(Learner):
    """Stochastic gradient descent on a linear model with L2 regularisation.

    For an example x of weight w with label y, the loss's derivative e_k by score k, and the step size eta_t::

        W   *= 1 - eta_t l2
        W_k -= eta_t w e_k x,   b_k -= eta_t w e_k

        perceptron   e_y = -1, e_k = 1 for k = argmax s, if k != y
        log          e_k = p_k - [k = y] for the softmax p of the scores
        hinge        e_y = -1, e_r = 1 for the best scored other label r, if 1 - s_y + s_r > 0

    Parameters
    ----------
    loss : the loss of the perceptron, of logistic regression (`"log"`) or of a support vector machine (`"hinge"`).
    rate : the t-th step is eta (`"constant"`), eta / t (`"inverse"`), eta / sqrt(t) (`"inverse_sqrt"`), 1 / (l2 t)
        (`"pegasos"`, which ignores eta) or eta / (1 + eta l2 (t - 1)) (`"bottou"`); t counts the events learned,
        whatever their weights.
    eta : the step size; of rates that shrink, that of the first event.
    l2 : each step shrinks every weight, but not the bias, by this share times the step size; above 0 for `"pegasos"`
        and `"bottou"`, at most 1 / eta for all but `"pegasos"`.
    normalize : scale a text's values, without the bias, to length 1; of several views, those of each.
    features : see `Learner`.

    Attributes
    ----------
    weights : W / exp(shrunk).
    bias : the weights of the feature that is always on.
    shrunk : the logarithm of the factor by which L2 has shrunk all weights.
    clock : t, the number of events learned.

    Raises
    ------
    ConfigError : a parameter is outside its limits.
    """

    name = "sgd"
    tables = ("weights", "bias", "shrunk", "clock")
    kernels = Kernels(learn_batch, learn_event, learn_keyed)

    @checked
    def __init__(
        self,
        loss: Loss = "log",
        rate: Rate = "constant",
        eta: Positive = 0.5,
        l2: NonNegative = 0.0,
        normalize: bool = True,
        features: View | Sequence[View] | None = None,
    ) -> None:
        if rate in ("pegasos", "bottou") and l2 == 0:
            raise ConfigError(f"sgd.l2 must be greater than 0 for {rate}, got {l2}")
        if rate != "pegasos" and eta * l2 > 1:
            raise ConfigError(f"sgd.l2 must be at most 1 / eta = {1 / eta:g}, got {l2}")
        super().__init__(features)
        self.loss, self.rate = loss, rate
        self.eta, self.l2, self.normalize = eta, l2, normalize
        self.weights, self.bias = np.zeros((0, 0), np.float32), np.zeros(0, np.float32)
        self.shrunk, self.clock = np.zeros(()), np.zeros((), np.int64)

    @property
    def prior_step(self) -> float:
        """The first step."""
        return self.eta

    def start_with(self, priors: Priors) -> None:
        """As the others; Pegasos, whose first step shrinks W to 0, as after t = sum of the strengths such steps.

        All its steps up to the t-th shrink to 1 / (l2 t), as each shrinks those before it.
        """
        if self.rate != "pegasos":
            super().start_with(priors)
        elif priors.rows.size:
            self.clock[()] = max(1, round(float(priors.strengths.sum())))
            self.weights[priors.rows, priors.codes] = priors.strengths / (self.l2 * int(self.clock[()]))

    def mix(self, changes: Sequence[Change]) -> None:
        """A mean in which each change of a weight counts by its size: the shard with larger gradients weighs more.

        Zinkevich and others, NIPS 2010, 2595-2603, average all shards alike, which was worse on three streams. Clocks
        add up.
        """
        add_by_size(self.weights, changes, "weights")
        add_by_size(self.bias, changes, "bias")
        add_sum(self.clock, changes, "clock")

    def why_unmixable(self, most_events: int) -> str | None:
        """Weights that shrink with every event can't be mixed row by row."""
        return "sgd with l2 > 0 shrinks every weight with each event; use l2 = 0" if self.l2 else None

    def arguments(self) -> tuple[Any, ...]:
        return (
            _LOSSES.index(self.loss),
            _RATES.index(self.rate),
            self.eta,
            self.l2,
            self.scales,
            self.weights,
            self.bias,
            self.shrunk,
            self.clock,
        )

    def effective_weights(self, n_rows: int, n_labels: int, of: Rows = ALL) -> NDArray[np.float64]:
        used = self.state(n_rows, n_labels)
        weights: NDArray[np.float64] = used["weights"][of] * np.exp(used["shrunk"])
        return weights
