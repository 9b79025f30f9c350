"""The kernels of leader clustering and k-means."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel

DOCUMENTS, MADE, USED = range(3)
"""Counts: the weight of all texts, the clusters that began, and those in use."""
_SAME = 0.999
"""Texts with at least this cosine do not begin two clusters of k-means."""
NONE = -1


class Clusters(NamedTuple):
    """Of each cluster: the squared length of its sum, the weight of its texts, and its number."""

    norms: NDArray[np.float64]
    weights: NDArray[np.float64]
    numbers: NDArray[np.int32]


class Chains(NamedTuple):
    """The rows in which each cluster's sum is not 0, linked, so that a cluster that is given up is cleared at once.

    firsts : int32[clusters], the first entry of each; NONE. rows, following : int32[entries], the row of each, and the
    entry behind it. used : int64[2], how many entries were ever in use; and the first free one of these, NONE.
    """

    firsts: NDArray[np.int32]
    rows: NDArray[np.int32]
    following: NDArray[np.int32]
    used: NDArray[np.int64]

    @classmethod
    def empty(cls, clusters: int) -> "Chains":
        """Without entries."""
        none = np.zeros(0, np.int32)
        return cls(np.full(clusters, NONE, np.int32), none, none, np.array([0, NONE]))

    def with_room(self, more: int) -> "Chains":
        """The same, with room for so many more entries."""
        needed = int(self.used[0]) + more
        if self.rows.size >= needed:
            return self
        room = 2 * needed
        rows, following = np.empty(room, np.int32), np.empty(room, np.int32)
        rows[: self.rows.size], following[: self.rows.size] = self.rows, self.following
        return self._replace(rows=rows, following=following)


@kernel
def assign_texts(
    indptr: NDArray[np.int64],
    rows: NDArray[np.int32],
    values: NDArray[np.float32],
    weights: NDArray[np.float64],
    similarity: float,
    fixed: bool,
    sums: NDArray[np.float64],
    documents: NDArray[np.float64],
    clusters: Clusters,
    counts: NDArray[np.float64],
    chains: Chains,
    slots: NDArray[np.int32],
    numbers: NDArray[np.int32],
    similarities: NDArray[np.float64],
    new: NDArray[np.bool_],
) -> None:
    """Give each of n texts a cluster, made by the texts before it, and learn it.

    indptr, rows, values : as `Examples`; a row of -1 is that of a word never seen. weights : float64[n].
    similarity, fixed : the least cosine; whether there is none once all clusters are in use.
    sums [rows, K], documents [rows], clusters, counts float64[3], chains : changed in place. chains : with room.
    slots, numbers int32[n], similarities float64[n], new bool[n] : set as `Assigned` has them.
    """
    n_clusters = clusters.weights.size
    dots, x = np.empty(n_clusters), np.empty(64)
    for i in range(weights.size):
        begin, end = indptr[i], indptr[i + 1]
        if end - begin > x.size:
            x = np.empty(2 * (end - begin))
        used = np.int64(counts[USED])
        dots[:used] = 0.0
        square = 0.0
        for j in range(begin, end):
            row = rows[j]
            seen = documents[row] if row >= 0 else 0.0
            w = max(0.0, values[j] * math.log((counts[DOCUMENTS] + 1.0) / (seen + 0.5)))
            x[j - begin] = w
            square += w * w
            if w > 0.0 and seen > 0.0:
                for k in range(used):
                    dots[k] += w * sums[row, k]
        best, top = NONE, 0.0
        if square > 0.0:
            for k in range(used):
                if dots[k] > 0.0:
                    cosine = dots[k] / math.sqrt(clusters.norms[k] * square)
                    if cosine > top:  # of equal ones the first
                        best, top = k, cosine
        is_full = used == n_clusters
        if fixed:
            begins = top < _SAME and not is_full
            if is_full and best < 0:
                best = 0
        else:
            begins = top < similarity
        slots[i], numbers[i], similarities[i], new[i] = NONE, 0, min(top, 1.0), False
        if square == 0.0:  # no words, or none that tells anything
            similarities[i] = np.nan
        elif begins:
            new[i] = True
            if weights[i] > 0.0:
                best = begin_cluster(sums, clusters, counts, chains)
                slots[i], numbers[i] = best, clusters.numbers[best]
        else:
            slots[i], numbers[i] = best, clusters.numbers[best]
        if weights[i] > 0.0:
            if square > 0.0:
                add_text(rows[begin:end], x, weights[i], best, sums, clusters, chains)
            counts[DOCUMENTS] += weights[i]
            for j in range(begin, end):
                if rows[j] >= 0:
                    documents[rows[j]] += weights[i]


@kernel
def begin_cluster(sums: NDArray[np.float64], clusters: Clusters, counts: NDArray[np.float64], chains: Chains) -> int:
    """Begin a cluster, in place of the lightest one if all are in use; returns its slot."""
    slot = int(counts[USED])
    if slot < clusters.weights.size:
        counts[USED] += 1.0
    else:
        slot = 0
        for k in range(clusters.weights.size):
            if clusters.weights[k] < clusters.weights[slot]:
                slot = k
        entry = chains.firsts[slot]
        while entry >= 0:
            sums[chains.rows[entry], slot] = 0.0
            behind = chains.following[entry]
            chains.following[entry] = chains.used[1]
            chains.used[1] = entry
            entry = behind
        chains.firsts[slot] = NONE
    counts[MADE] += 1.0
    clusters.norms[slot] = clusters.weights[slot] = 0.0
    clusters.numbers[slot] = np.int32(counts[MADE])
    return slot


@kernel
def add_text(
    rows: NDArray[np.int32],
    x: NDArray[np.float64],
    weight: float,
    slot: int,
    sums: NDArray[np.float64],
    clusters: Clusters,
    chains: Chains,
) -> None:
    """Add a text to a cluster's sum."""
    clusters.weights[slot] += weight
    for j in range(rows.size):
        row = rows[j]
        if row < 0 or x[j] == 0.0:
            continue
        old = sums[row, slot]
        if old == 0.0:
            entry = chains.used[1]
            if entry >= 0:
                chains.used[1] = chains.following[entry]
            else:
                entry = chains.used[0]
                chains.used[0] += 1
            chains.rows[entry], chains.following[entry] = row, chains.firsts[slot]
            chains.firsts[slot] = entry
        now = old + weight * x[j]
        sums[row, slot] = now
        clusters.norms[slot] += now * now - old * old
