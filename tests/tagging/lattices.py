"""The dynamic programs of linear chains on random scores, and the same by enumeration of all sequences of tags."""

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from streamlin.tagging.viterbi import LANES, Lattice, new_lattice

K, LONGEST = 3, 6


class Chain(NamedTuple):
    """scores float32[n, K]; transitions float32[K + 1, K], the row 0 is the start's."""

    scores: NDArray[np.float32]
    transitions: NDArray[np.float32]


class Enumerated(NamedTuple):
    """log Z; the best score; posteriors float64[n, K]; expected transitions float64[K + 1, K]."""

    log_z: float
    best: float
    marginals: NDArray[np.float64]
    pairs: NDArray[np.float64]


_values = st.sampled_from([-6.0, -1.5, -0.25, 0.0, 0.0, 0.5, 1.0, 4.0]) | st.floats(-6, 6, width=32)


def chains(n_tags: int = K) -> st.SearchStrategy[Chain]:
    """Chains of one to six tokens; equal scores are common."""

    def of_length(n: int) -> st.SearchStrategy[Chain]:
        size = (n + n_tags + 1) * n_tags
        return st.lists(_values, min_size=size, max_size=size).map(lambda values: _chain(values, n, n_tags))

    return st.integers(1, LONGEST).flatmap(of_length)


def _chain(values: list[float], n: int, n_tags: int) -> Chain:
    table = np.array(values, np.float32).reshape(-1, n_tags)
    return Chain(table[:n], table[n:])


def score(chain: Chain, path: tuple[int, ...]) -> float:
    """s(y), in float64."""
    total, before = 0.0, 0
    for t, k in enumerate(path):
        total += float(chain.scores[t, k]) + float(chain.transitions[before, k])
        before = k + 1
    return total


def enumerated(chain: Chain, codes: NDArray[np.int32] | None = None) -> Enumerated:
    """Sums over all sequences of tags that agree with the `codes` that are not -1."""
    n, n_tags = chain.scores.shape
    allowed = [range(n_tags) if codes is None or codes[t] < 0 else [int(codes[t])] for t in range(n)]
    paths = list(product(*allowed))
    scores = np.array([score(chain, path) for path in paths])
    log_z = float(np.logaddexp.reduce(scores))
    marginals, pairs = np.zeros((n, n_tags)), np.zeros((n_tags + 1, n_tags))
    for path, p in zip(paths, np.exp(scores - log_z), strict=True):
        before = 0
        for t, k in enumerate(path):
            marginals[t, k] += p
            pairs[before, k] += p
            before = k + 1
    return Enumerated(log_z, float(scores.max()), marginals, pairs)


class Program(NamedTuple):
    """A chain in arrays as kernels have them, with room for more tags, which hold garbage."""

    lattice: Lattice
    transitions: NDArray[np.float32]
    factors: NDArray[np.float32]
    marginals: NDArray[np.float32]
    pairs: NDArray[np.float32]


def program(chain: Chain, capacity: int = LANES) -> Program:
    """The arrays for a chain; its scores are those of the lattice."""
    n, n_tags = chain.scores.shape
    lattice = new_lattice(LONGEST, capacity)
    transitions = np.zeros((capacity + 1, capacity), np.float32)
    transitions[: n_tags + 1, :n_tags] = chain.transitions
    lattice.scores[:] = 0.0
    lattice.scores[:n, :n_tags] = chain.scores
    shape: Any = (LONGEST, capacity)
    return Program(lattice, transitions, np.exp(transitions), np.zeros(shape, np.float32), np.zeros_like(transitions))
