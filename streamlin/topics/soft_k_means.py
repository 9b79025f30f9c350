"""Soft k-means: a mixture of multinomials, by incremental EM.

Eisenstein, "Introduction to Natural Language Processing", MIT Press 2019, section 5.1, for the mixture and for EM;
Neal, Hinton, "A view of the EM algorithm that justifies incremental, sparse, and other variants", 1998, for one text at
a time.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray

from streamlin.errors import CheckpointError
from streamlin.features.rows import Examples
from streamlin.kernel import kernel
from streamlin.learners.parameters import Positive, checked
from streamlin.learners.tables import grown
from streamlin.storage.arrays import Expected, Layout, expected
from streamlin.topics.base import Assigned, Clusterer

_LEAST = 1e-6
"""Shares below this are taken as 0."""


class SoftKMeans(Clusterer):
    """Soft k-means by EM, one text at a time.

    Each of the first texts begins a cluster of its own. A later one belongs to all clusters, by the shares q_k that
    they have in it (expectation), and is counted by these shares at once (maximization)::

        q_k  proportional to  D_k prod_j (P(k | j) / T_k)^x_j,   P(k | j) = (N_kj + a T_k) / (N_j + a)
        N_kj += q_k x_j,   D_k += q_k

    T_k is the cluster's share of all words. A word without evidence says nothing for any cluster. The text's cluster is
    the one with the largest share.

    Parameters
    ----------
    clusters : how many there are.
    a : the weight of the share of all words, for each word.

    Raises
    ------
    ConfigError : a parameter is outside its limits.
    """

    name = "soft_k_means"

    @checked
    def __init__(self, clusters: Annotated[int, Interval(ge=2, le=1000)] = 64, a: Positive = 3.0) -> None:
        self.clusters, self.a = clusters, a
        self._counts, self._totals = np.zeros((0, clusters)), np.zeros(0)
        self._texts, self._words = np.zeros(clusters), np.zeros(clusters)
        self._used = np.zeros(1, np.int64)

    @property
    def weights(self) -> NDArray[np.float64]:
        """float64[clusters]: D, the weight of each cluster's shares of texts; 0 for one that is not in use."""
        return self._texts

    @property
    def numbers(self) -> NDArray[np.int32]:
        """int32[clusters]: see `Clusterer`."""
        slots = np.arange(self.clusters, dtype=np.int32)
        return np.where(slots < self._used[0], slots + np.int32(1), np.int32(0))

    def grow(self, n_rows: int) -> None:
        """Have room for so many rows."""
        self._counts = grown(self._counts, (n_rows, self.clusters), self._counts.shape[0])
        self._totals = grown(self._totals, (n_rows,), self._totals.size)

    def assign(self, examples: Examples, weights: NDArray[np.float64]) -> Assigned:
        """Give each of n texts a cluster, and learn it; one of weight 0 is only given one."""
        assigned = Assigned.empty(weights.size)
        share_texts(
            *examples[:3],
            weights,
            self.a,
            self._counts,
            self._totals,
            self._texts,
            self._words,
            self._used,
            assigned.slots,
            assigned.numbers,
            assigned.similarities,
            assigned.new,
        )
        return assigned

    def word_weights(self, n_rows: int) -> NDArray[np.float64]:
        """float64[rows, clusters]: N_kj log(P(k | j) / T_k), what each word adds to its texts' scores."""
        shares = self._words / max(self._words.sum(), 1e-300)
        counts = self._counts[:n_rows]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = (counts + self.a * shares) / (self._totals[:n_rows, None] + self.a) / shares
            weights: NDArray[np.float64] = np.where(counts > 0, counts * np.log(ratios), 0.0)
        return weights

    def table_bytes(self, n_rows: int) -> int:
        """The size of all tables for so many rows."""
        return n_rows * (self.clusters * 8 + 8)

    def state(self, n_rows: int) -> dict[str, NDArray[Any]]:
        """The arrays of a checkpoint."""
        tables = {"counts": self._counts[:n_rows], "totals": self._totals[:n_rows]}
        return tables | {"texts": self._texts, "words": self._words, "used": self._used}

    def expected(self, n_rows: int, layout: Mapping[str, Layout]) -> dict[str, Expected]:
        """What the arrays of a `state` must be."""
        of_each = expected(np.float64, self.clusters)
        return {
            "counts": expected(np.float64, n_rows, self.clusters),
            "totals": expected(np.float64, n_rows),
            "texts": of_each,
            "words": of_each,
            "used": expected(np.int64, 1, highest=self.clusters),
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over a `state`. Raises CheckpointError if a cluster in use has no words."""
        self.grow(state["totals"].size)
        self._counts[: state["totals"].size], self._totals[: state["totals"].size] = state["counts"], state["totals"]
        self._texts, self._words, self._used = (state[name].copy() for name in ("texts", "words", "used"))
        used = int(self._used[0])
        if not ((self._texts[:used] > 0).all() and (self._words[:used] > 0).all()):
            raise CheckpointError("the checkpoint's clusters do not fit together")


@kernel
def share_texts(
    indptr: NDArray[np.int64],
    rows: NDArray[np.int32],
    values: NDArray[np.float32],
    weights: NDArray[np.float64],
    a: float,
    counts: NDArray[np.float64],
    totals: NDArray[np.float64],
    texts: NDArray[np.float64],
    words: NDArray[np.float64],
    used: NDArray[np.int64],
    slots: NDArray[np.int32],
    numbers: NDArray[np.int32],
    similarities: NDArray[np.float64],
    new: NDArray[np.bool_],
) -> None:
    """Give each of n texts a cluster, made by the texts before it, and learn it.

    indptr, rows, values : as `Examples`; a row of -1 is that of a word never seen. weights : float64[n].
    counts [rows, K], totals [rows], texts [K], words [K], used int64[1] : changed in place.
    slots, numbers int32[n], similarities float64[n], new bool[n] : set as `Assigned` has them.
    """
    n_clusters = texts.size
    q, shares = np.zeros(n_clusters), np.zeros(n_clusters)
    for i in range(weights.size):
        size, all_words = 0.0, 0.0
        for j in range(indptr[i], indptr[i + 1]):
            size += values[j]
        for k in range(used[0]):
            all_words += words[k]
        for k in range(used[0]):
            shares[k] = words[k] / all_words
            q[k] = math.log(texts[k])
        for j in range(indptr[i], indptr[i + 1]):
            row = rows[j]
            if row >= 0 and totals[row] > 0.0:
                for k in range(used[0]):
                    ratio = (counts[row, k] + a * shares[k]) / ((totals[row] + a) * shares[k])
                    q[k] += values[j] * math.log(ratio)
        best = normalize(q, used[0])
        slots[i], numbers[i], similarities[i], new[i] = -1, 0, np.nan, False
        if size == 0.0:
            continue
        if best >= 0:
            similarities[i] = q[best]
        new[i] = used[0] < n_clusters
        if new[i] and weights[i] > 0.0:
            best = used[0]
            q[:best] = 0.0
            q[best] = 1.0
            used[0] += 1
        if not new[i] or weights[i] > 0.0:
            slots[i], numbers[i] = best, best + 1
        if weights[i] > 0.0:
            for k in range(used[0]):
                texts[k] += weights[i] * q[k]
                words[k] += weights[i] * q[k] * size
            for j in range(indptr[i], indptr[i + 1]):
                if rows[j] >= 0:
                    totals[rows[j]] += weights[i] * values[j]
                    for k in range(used[0]):
                        counts[rows[j], k] += weights[i] * values[j] * q[k]


@kernel
def normalize(q: NDArray[np.float64], used: int) -> int:
    """Turn logarithms into shares that sum to 1; returns the largest, of equal ones the first, -1 if there is none."""
    best = -1
    for k in range(used):
        if best < 0 or q[k] > q[best]:
            best = k
    if best < 0:
        return best
    top, total = q[best], 0.0
    for k in range(used):
        q[k] = math.exp(q[k] - top)
        total += q[k]
    for k in range(used):
        q[k] /= total
        if q[k] < _LEAST:
            q[k] = 0.0
    return best
