"""Kernels of the mixture: its members' scores become one pool, whose parameters then take their steps."""

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import inlined_kernel, kernel
from streamlin.kernel.late import beside, in_python, late_kernel
from streamlin.learners.by_numpy import left_sum
from streamlin.learners.exponentials import exponentials, powers_of_e
from streamlin.learners.targets import Targets

_SPREAD_FADING, _FADING, _OUTPUT_FADING = 0.999, 0.998, 0.9995
_WEIGHT_STEP, _LABEL_STEP, _TEMPERATURE_STEP, _OUTPUT_STEP = 0.05, 0.02, 0.1, 0.05
_TINY = 1e-12
_LARGEST = 3.0
"""The bound on the log of the output's temperature."""


@late_kernel
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
        scale_members(
            member_scores,
            i,
            n,
            y if learns else -1,
            temperatures,
            spreads,
            seen,
            first_variances,
            centred,
            variances,
            slopes,
            powers,
        )
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
        step_members(
            shares,
            centred,
            n,
            w,
            slopes,
            label_weights,
            weights,
            temperatures,
            label_squares,
            weight_squares,
            temperature_squares,
        )


def _scale_members(
    member_scores: NDArray[np.float64],
    i: int,
    n: int,
    y: int,
    temperatures: NDArray[np.float64],
    spreads: NDArray[np.float64],
    seen: NDArray[np.float64],
    first_variances: NDArray[np.float64],
    centred: NDArray[np.float64],
    variances: NDArray[np.float64],
    slopes: NDArray[np.float64],
    powers: NDArray[np.float64],
) -> None:
    """As `scale_members`, in numpy."""
    own = member_scores[:, i, :n]
    own = own - (left_sum(own.T) / n)[:, np.newaxis]
    squares = left_sum((own * own).T)
    overflowed = ~np.isfinite(squares)
    own[overflowed], squares[overflowed] = 0.0, 0.0
    variances[:] = squares / n
    for m, variance in enumerate(variances):
        own[m] *= in_python(member_factor)(m, variance, temperatures, spreads, seen, first_variances)
    centred[:, :n] = own
    if y >= 0:
        tops = np.array([max(scores) for scores in own.tolist()])
        shares = powers_of_e(own - tops[:, np.newaxis])
        slopes[:] = left_sum((shares * own).T) / left_sum(shares.T) - own[:, y]


@inlined_kernel
@beside(_scale_members)
def scale_members(
    member_scores: NDArray[np.float64],
    i: int,
    n: int,
    y: int,
    temperatures: NDArray[np.float64],
    spreads: NDArray[np.float64],
    seen: NDArray[np.float64],
    first_variances: NDArray[np.float64],
    centred: NDArray[np.float64],
    variances: NDArray[np.float64],
    slopes: NDArray[np.float64],
    powers: NDArray[np.float64],
) -> None:
    """Set `centred` to event i's scores as they are pooled, the slopes of t to those at label y, unless it is -1."""
    for m in range(variances.size):
        variances[m] = centre(member_scores[m, i], n, centred[m])
        factor = member_factor(m, variances[m], temperatures, spreads, seen, first_variances)
        for k in range(n):
            centred[m, k] *= factor
        if y >= 0:
            slopes[m] = expectation(centred[m], centred[m], n, powers) - centred[m, y]


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


def _pooled(
    centred: NDArray[np.float64],
    weights: NDArray[np.float64],
    label_weights: NDArray[np.float64],
    n: int,
    pool: NDArray[np.float64],
    powers: NDArray[np.float64],
) -> np.float64:
    """As `pooled`, in numpy."""
    own = left_sum((weights[:, np.newaxis] + label_weights[:n].T) * centred[:, :n])
    pool[:n] = own - max([-np.inf, *own.tolist()])
    return np.float64(in_python(exponentials)(pool, n, 0.0, powers))


@kernel
@beside(_pooled)
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


def _step_members(
    errors: NDArray[np.float64],
    centred: NDArray[np.float64],
    n: int,
    weight: float,
    slopes: NDArray[np.float64],
    label_weights: NDArray[np.float64],
    weights: NDArray[np.float64],
    temperatures: NDArray[np.float64],
    label_squares: NDArray[np.float64],
    weight_squares: NDArray[np.float64],
    temperature_squares: NDArray[np.float64],
) -> None:
    """As `step_members`, in numpy."""
    gradients = errors[:n] * centred[:, :n]
    label_squares[:] = _FADING * label_squares + left_sum((gradients * gradients).T)
    label_weights[:n] -= ((_LABEL_STEP / np.sqrt(label_squares + _TINY))[:, np.newaxis] * gradients).T
    of_weights = weights, weight_squares, left_sum(gradients.T), _WEIGHT_STEP
    of_temperatures = temperatures, temperature_squares, weight * slopes, _TEMPERATURE_STEP
    for values, squares, slope, step in (of_weights, of_temperatures):
        squares[:] = _FADING * squares + slope * slope
        values -= step * slope / np.sqrt(squares + _TINY)


@inlined_kernel
@beside(_step_members)
def step_members(
    errors: NDArray[np.float64],
    centred: NDArray[np.float64],
    n: int,
    weight: float,
    slopes: NDArray[np.float64],
    label_weights: NDArray[np.float64],
    weights: NDArray[np.float64],
    temperatures: NDArray[np.float64],
    label_squares: NDArray[np.float64],
    weight_squares: NDArray[np.float64],
    temperature_squares: NDArray[np.float64],
) -> None:
    """Step v, w and t of each member; slopes [M] : those of t, which the event's weight multiplies."""
    for m in range(slopes.size):
        slope = label_steps(errors, centred[m], n, label_weights, m, label_squares)
        fading_step(weights, m, weight_squares, slope, _FADING, _WEIGHT_STEP)
        fading_step(temperatures, m, temperature_squares, weight * slopes[m], _FADING, _TEMPERATURE_STEP)


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
