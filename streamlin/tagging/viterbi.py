"""The dynamic programs of linear chains: the best tags, and the sums over all of them.

Rabiner, Proceedings of the IEEE 77 (1989) 257-286; the sums are scaled position by position, as in its section V.A.

In tables of transitions the row 0 is the sentence's start, and row j + 1 is tag j; the columns are the next tag's.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.kernel.choice import either
from streamlin.kernel.prefetch import prefetch
from streamlin.tagging.exponentials import exponentials
from streamlin.tagging.reductions import best_of, highest, lowest, sum_of

LANES = 8
"""Tables have a multiple of so many columns, so that loops over tags compile to whole vectors."""
LINE = 16
"""Weights in a line of the cache, of 64 bytes."""
_ZERO = np.float32(0.0)


class Lattice(NamedTuple):
    """Scratch for sentences of up to `longest` tokens and `capacity` tags.

    scores, delta, alpha : float32[longest, capacity]. back, active : int32[longest, capacity]. sizes : int32[longest].
    limits : float32[2, capacity + 1]. shares, beta, flows : float32[capacity]. bits : the memory of `shares` as int32.
    powers : int32[capacity].
    """

    scores: NDArray[np.float32]
    delta: NDArray[np.float32]
    alpha: NDArray[np.float32]
    back: NDArray[np.int32]
    active: NDArray[np.int32]
    sizes: NDArray[np.int32]
    limits: NDArray[np.float32]
    shares: NDArray[np.float32]
    beta: NDArray[np.float32]
    flows: NDArray[np.float32]
    bits: NDArray[np.int32]
    powers: NDArray[np.int32]


@kernel
def new_lattice(longest: int, capacity: int) -> Lattice:
    """A lattice with undefined contents."""
    shares = np.empty(capacity, np.float32)
    return Lattice(
        np.empty((longest, capacity), np.float32),
        np.empty((longest, capacity), np.float32),
        np.empty((longest, capacity), np.float32),
        np.empty((longest, capacity), np.int32),
        np.empty((longest, capacity), np.int32),
        np.empty(longest, np.int32),
        np.empty((2, capacity + 1), np.float32),
        shares,
        np.empty(capacity, np.float32),
        np.empty(capacity, np.float32),
        shares.view(np.int32),
        np.empty(capacity, np.int32),
    )


@kernel
def padded(n_tags: int) -> int:
    """The number of columns that hold `n_tags` tags in whole vectors."""
    return (n_tags + LANES - 1) // LANES * LANES


@kernel
def set_emissions(
    rows: NDArray[np.int32],
    known: int,
    slots: NDArray[np.int32],
    weights: NDArray[np.float32],
    width: int,
    scores: NDArray[np.float32],
) -> None:
    """Set scores[t, :width] to the sum of the weights of token t's features, of rows int32[n, templates] below `known`.

    slots int32[features] : the place of each feature's weights, -1 if it has none. Places are asked for two tokens
    ahead, weights one token ahead.
    """
    n, found = rows.shape[0], np.empty((2, rows.shape[1]), np.int64)
    for t in range(min(2, n)):
        prefetch_slots(rows[t], slots)
    size = set_slots(rows[0], known, slots, found[0]) if n else 0
    for t in range(n):
        here, ahead, more = found[t % 2], found[(t + 1) % 2], 0
        if t + 2 < n:
            prefetch_slots(rows[t + 2], slots)
        if t + 1 < n:
            more = set_slots(rows[t + 1], known, slots, ahead)
            prefetch_rows(ahead, more, weights)
        add_rows(here, size, weights, width, scores[t])
        size = more


@kernel
def prefetch_slots(rows: NDArray[np.int32], slots: NDArray[np.int32]) -> None:
    """Ask for the places of one token's features."""
    for f in range(rows.size):
        prefetch(slots, rows[f])


@kernel
def prefetch_rows(found: NDArray[np.int64], size: int, table: NDArray[np.float32]) -> None:
    """Ask for the first three lines of `size` rows of a table."""
    beginnings = table, table[:, LINE:], table[:, 2 * LINE :]
    for f in range(size):
        prefetch(beginnings[0], found[f])
        prefetch(beginnings[1], found[f])
        prefetch(beginnings[2], found[f])


@kernel
def set_slots(rows: NDArray[np.int32], known: int, slots: NDArray[np.int32], found: NDArray[np.int64]) -> int:
    """Set `found` to the places of those features of a token that have weights; returns their number."""
    size = 0
    for f in range(rows.size):
        if 0 <= rows[f] < known:
            found[size] = slots[rows[f]]
            size += found[size] >= 0
    return size


@kernel
def add_rows(
    found: NDArray[np.int64], size: int, weights: NDArray[np.float32], width: int, s: NDArray[np.float32]
) -> None:
    """Set s[:width] to the sum of `size` rows of weights.

    Four rows at a time, added in order: sums are then read and written a quarter as often, which halves the time.
    """
    s[:width] = _ZERO
    fours = size // 4 * 4
    for f in range(0, fours, 4):
        w0, w1, w2, w3 = weights[found[f]], weights[found[f + 1]], weights[found[f + 2]], weights[found[f + 3]]
        for k in range(width):
            s[k] = (((s[k] + w0[k]) + w1[k]) + w2[k]) + w3[k]
    for f in range(fours, size):
        w0 = weights[found[f]]
        for k in range(width):
            s[k] += w0[k]


@kernel
def best_path(
    lattice: Lattice,
    scores: NDArray[np.float32],
    transitions: NDArray[np.float32],
    n: int,
    n_tags: int,
    path: NDArray[np.int32],
    start: int = 0,
) -> np.float32:
    """Set path[:n] to the tags of the highest score, of equal ones the tag seen first; returns that score.

    scores float32[>= n, width]. start : the row of the transitions to the first tag. lattice.limits : of these
    transitions, see `set_limits`. Exact, but a tag is not looked at as a predecessor where its best continuation is
    worse than the worst continuation of the best tag.
    """
    width, delta, back, limits = padded(n_tags), lattice.delta, lattice.back, lattice.limits
    for k in range(width):
        delta[0, k] = scores[0, k] + transitions[start, k]
    for t in range(1, n):
        before, now, origin, s = delta[t - 1], delta[t], back[t], scores[t]
        top = best_of(before, n_tags)
        least, is_first = before[top] + limits[0, top], True
        for j in range(n_tags):
            so_far = before[j]
            if so_far + limits[1, j] < least:
                continue
            step, tag = transitions[j + 1], np.int32(j)
            if is_first:  # mostly the only one
                for k in range(width):
                    now[k] = so_far + step[k]
                    origin[k] = tag
                is_first = False
                continue
            for k in range(width):
                score = so_far + step[k]
                better = score > now[k]
                now[k] = either(better, score, now[k])
                origin[k] = either(better, tag, origin[k])
        for k in range(width):
            now[k] += s[k]
    path[n - 1] = best_of(delta[n - 1], n_tags)
    for t in range(n - 1, 0, -1):
        path[t - 1] = back[t, path[t]]
    best: np.float32 = delta[n - 1, path[n - 1]]
    return best


@kernel
def set_limits(transitions: NDArray[np.float32], n_tags: int, limits: NDArray[np.float32]) -> None:
    """Set the limits of all tags."""
    for j in range(n_tags):
        set_limit(transitions, j, n_tags, limits)


@kernel
def set_limit(transitions: NDArray[np.float32], j: int, n_tags: int, limits: NDArray[np.float32]) -> None:
    """Set limits[0, j] and limits[1, j] to the least and the largest score of a transition from tag j."""
    step = transitions[j + 1]
    limits[0, j], limits[1, j] = lowest(step, n_tags), highest(step, n_tags)


@kernel
def forward(
    lattice: Lattice,
    scores: NDArray[np.float32],
    factors: NDArray[np.float32],
    n: int,
    n_tags: int,
    threshold: float,
    start: int = 0,
) -> float:
    """Set alpha[t, k], the filtered probability of tag k at token t; returns log Z, of the tags that are kept.

    factors : exp of the transitions. start : the row of those to the first tag. A tag whose filtered probability is not
    above `threshold` gets 0 and leaves the sums, unless this holds for all of a token's tags; the others are listed in
    active[t, :sizes[t]].
    """
    width, log_z = padded(n_tags), 0.0
    alpha, active, sizes, shares = lattice.alpha, lattice.active, lattice.sizes, lattice.shares
    for t in range(n):
        a, s, listed = alpha[t], scores[t], active[t]
        if t == 0:
            for k in range(width):
                a[k] = factors[start, k]
        else:
            a[:width] = _ZERO
            for m in range(sizes[t - 1]):
                j = active[t - 1, m]
                share, step = alpha[t - 1, j], factors[j + 1]
                for k in range(width):
                    a[k] += share * step[k]
        top = highest(s, n_tags)
        exponentials(s, top, width, shares, lattice.bits, lattice.powers)
        for k in range(width):
            a[k] *= shares[k]
        for k in range(n_tags, width):
            a[k] = _ZERO
        low, kept, rest = np.float32(threshold) * sum_of(a, n_tags), 0, _ZERO
        low = low if highest(a, n_tags) > low else _ZERO
        for k in range(n_tags):
            listed[kept] = k
            kept += a[k] > low
        for m in range(kept):
            rest += a[listed[m]]
        inverse = np.float32(1.0) / rest
        for k in range(width):
            a[k] = either(a[k] > low, a[k] * inverse, _ZERO)
        sizes[t] = kept
        log_z += np.log(np.float64(rest)) + np.float64(top)
    return log_z


@kernel
def add_posteriors(
    lattice: Lattice,
    factors: NDArray[np.float32],
    n: int,
    sign: np.float32,
    marginals: NDArray[np.float32],
    pairs: NDArray[np.float32],
    start: int = 0,
) -> None:
    """After `forward`: add sign P(tag k at t) to marginals[t, k], and sign times the expected transitions to `pairs`.

    pairs float32[capacity + 1, capacity], as transitions are; of size 0: they are not needed.
    """
    alpha, active, sizes, beta, flows = lattice.alpha, lattice.active, lattice.sizes, lattice.beta, lattice.flows
    for m in range(sizes[n - 1]):
        beta[active[n - 1, m]] = np.float32(1.0)
    for t in range(n - 1, -1, -1):
        a, total = alpha[t], _ZERO
        for m in range(sizes[t]):
            k = active[t, m]
            beta[k] *= a[k]
            total += beta[k]
        for m in range(sizes[t]):
            k = active[t, m]
            beta[k] /= total  # from here on the posterior
            marginals[t, k] += sign * beta[k]
        if t == 0:
            if pairs.size:
                for m in range(sizes[0]):
                    k = active[0, m]
                    pairs[start, k] += sign * beta[k]
            break
        for m in range(sizes[t]):
            k = active[t, m]
            flow = _ZERO
            for h in range(sizes[t - 1]):
                j = active[t - 1, h]
                flow += alpha[t - 1, j] * factors[j + 1, k]
            flows[k] = beta[k] / flow
        # `shares` is free after `forward`; beta may still be read here, since the tags at t and t - 1 overlap.
        for h in range(sizes[t - 1]):
            j = active[t - 1, h]
            back = _ZERO
            for m in range(sizes[t]):
                k = active[t, m]
                part = factors[j + 1, k] * flows[k]
                back += part
                if pairs.size:
                    pairs[j + 1, k] += sign * alpha[t - 1, j] * part
            lattice.shares[j] = back
        for h in range(sizes[t - 1]):
            j = active[t - 1, h]
            beta[j] = lattice.shares[j]
