"""Leader clustering and k-means of texts, in one pass, by the cosine of their tf-idf vectors.

Hartigan, "Clustering Algorithms", Wiley 1975, chapter 3, for leaders; MacQueen, "Some methods for classification and
analysis of multivariate observations", 5th Berkeley Symposium 1 (1967) 281-297, for online k-means; Zhong, "Efficient
online spherical k-means clustering", IJCNN 2005, for the cosine.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray

from streamlin.errors import CheckpointError
from streamlin.features.rows import Examples
from streamlin.learners.parameters import checked
from streamlin.learners.tables import grown
from streamlin.storage.arrays import Expected, Layout, expected, length_of
from streamlin.topics.base import Assigned, Clusterer
from streamlin.topics.leader_kernels import DOCUMENTS, MADE, USED, Chains, Clusters, assign_texts


class Leader(Clusterer):
    """Leader clustering.

    A text is a vector x of tf-idf weights, from the n texts before it, of which df_j have word j::

        x_j = tf_j max(0, log((n + 1) / (df_j + 0.5)))

    It gets the cluster k with the largest cosine of x and the sum S_k of its texts, if that is at least `similarity`;
    then S_k += x. Otherwise it begins a cluster, in place of the lightest one if there are `clusters` already.

    Parameters
    ----------
    similarity : the least cosine.
    clusters : how many there are at most at a time.

    Raises
    ------
    ConfigError : a parameter is outside its limits.
    """

    name = "leader"
    fixed = False

    @checked
    def __init__(
        self,
        similarity: Annotated[float, Interval(gt=0, lt=1)] = 0.1,
        clusters: Annotated[int, Interval(ge=2, le=1000)] = 64,
    ) -> None:
        self.similarity = similarity
        self._start(clusters)

    def _start(self, clusters: int) -> None:
        self.clusters = clusters
        self._sums, self._documents = np.zeros((0, clusters)), np.zeros(0)
        self._clusters = Clusters(np.zeros(clusters), np.zeros(clusters), np.zeros(clusters, np.int32))
        self._counts = np.zeros(3)
        self._chains = _chains(self._sums, clusters)

    @property
    def weights(self) -> NDArray[np.float64]:
        """float64[clusters]: the weight of each cluster's texts; 0 for one that is not in use."""
        return self._clusters.weights

    @property
    def numbers(self) -> NDArray[np.int32]:
        """int32[clusters]: the number of each cluster in use, from 1 on, in the order in which they began; else 0."""
        return self._clusters.numbers

    def grow(self, n_rows: int) -> None:
        """Have room for so many rows."""
        self._sums = grown(self._sums, (n_rows, self.clusters), self._sums.shape[0])
        self._documents = grown(self._documents, (n_rows,), self._documents.size)

    def assign(self, examples: Examples, weights: NDArray[np.float64]) -> Assigned:
        """Give each of n texts a cluster, and learn it; one of weight 0 is only given one."""
        n = weights.size
        assigned = Assigned.empty(n)
        self._chains = self._chains.with_room(examples.rows.size)
        assign_texts(
            *examples[:3],
            weights,
            self.similarity,
            self.fixed,
            self._sums,
            self._documents,
            self._clusters,
            self._counts,
            self._chains,
            assigned.slots,
            assigned.numbers,
            assigned.similarities,
            assigned.new,
        )
        return assigned

    def word_weights(self, n_rows: int) -> NDArray[np.float64]:
        """float64[rows, clusters]: S_kj, times the weight that word j has by now, so that common words are light."""
        seen = self._documents[:n_rows, None]
        rarity = np.maximum(np.log((self._counts[DOCUMENTS] + 1.0) / (seen + 0.5)), 0.0)
        weights: NDArray[np.float64] = self._sums[:n_rows] * rarity
        return weights

    def table_bytes(self, n_rows: int) -> int:
        """The size of all tables for so many rows, with chains."""
        return n_rows * (self.clusters * 24 + 8)

    def state(self, n_rows: int) -> dict[str, NDArray[Any]]:
        """The arrays of a checkpoint; the sums without zeros, row by row."""
        rows, slots = np.nonzero(self._sums[:n_rows])
        return {
            "sizes": np.bincount(rows, minlength=n_rows).astype(np.int32),
            "slots": slots.astype(np.int32),
            "sums": self._sums[rows, slots],
            "documents": self._documents[:n_rows],
            "norms": self._clusters.norms,
            "weights": self._clusters.weights,
            "numbers": self._clusters.numbers,
            "counts": self._counts,
        }

    def expected(self, n_rows: int, layout: Mapping[str, Layout]) -> dict[str, Expected]:
        """What the arrays of a `state` must be. layout : of the arrays in a file."""
        cells, of_each = length_of(layout, "slots"), expected(np.float64, self.clusters)
        return {
            "sizes": expected(np.int32, n_rows, highest=self.clusters),
            "slots": expected(np.int32, cells, highest=self.clusters - 1),
            "sums": expected(np.float64, cells),
            "documents": expected(np.float64, n_rows),
            "norms": of_each,
            "weights": of_each,
            "numbers": expected(np.int32, self.clusters),
            "counts": expected(np.float64, 3),
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over a `state`. Raises CheckpointError if its arrays do not fit together."""
        sizes, slots, counts = state["sizes"], state["slots"], state["counts"]
        used = counts[USED]
        if int(sizes.sum()) != slots.size or not (0 <= used <= self.clusters and used == int(used)):
            raise CheckpointError("the checkpoint's clusters do not fit together")
        if not (counts[MADE] >= used and np.isfinite(counts).all()):
            raise CheckpointError("the checkpoint's clusters are not counted as they should be")
        self.grow(sizes.size)
        self._sums[np.repeat(np.arange(sizes.size), sizes), slots] = state["sums"]
        self._documents[: sizes.size] = state["documents"]
        self._clusters = Clusters(state["norms"].copy(), state["weights"].copy(), state["numbers"].copy())
        self._counts = counts.copy()
        self._chains = _chains(self._sums[: sizes.size], self.clusters)


class KMeans(Leader):
    """Online k-means, on the sphere.

    As leader clustering, with a fixed number of clusters: each of the first texts that differ begins one, and all later
    ones get the nearest, whose sum moves towards them::

        k = argmax cos(x, S_k),   S_k += x

    Parameters
    ----------
    clusters : how many there are.

    Raises
    ------
    ConfigError : a parameter is outside its limits.
    """

    name = "k_means"
    fixed = True

    @checked
    def __init__(self, clusters: Annotated[int, Interval(ge=2, le=1000)] = 64) -> None:
        self.similarity = 0.0
        self._start(clusters)


def _chains(sums: NDArray[np.float64], clusters: int) -> Chains:
    """The chains of the cells of a table that are not 0."""
    rows, slots = np.nonzero(sums)
    chains = Chains.empty(clusters).with_room(rows.size)
    order = np.argsort(slots, kind="stable")
    for slot, places in enumerate(np.split(order, np.searchsorted(slots[order], np.arange(1, clusters)))):
        if not places.size:
            continue
        chains.rows[places] = rows[places]
        chains.following[places[:-1]] = places[1:]
        chains.following[places[-1]] = -1
        chains.firsts[slot] = places[0]
    chains.used[0] = rows.size
    return chains
