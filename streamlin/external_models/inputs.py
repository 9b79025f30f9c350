"""The inputs of external models: texts, or hashed features."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.features import Buckets


class Inputs:
    """The events of a batch, one at a time; inputs are made only when a model needs them.

    Parameters
    ----------
    features : the features of n events, by view.
    texts : returns their n texts.
    """

    def __init__(self, features: Mapping[str, Buckets], texts: Callable[[], Sequence[str]]) -> None:
        self._features, self._texts_of = features, texts

    @cached_property
    def texts(self) -> Sequence[str]:
        """The text of each event; several text fields are joined by line feeds."""
        return self._texts_of()

    def mapping(self, view: str, i: int) -> dict[int, float]:
        """The features of event i: bucket -> value."""
        buckets, values = self._entries(view, i)
        return dict(zip(buckets.tolist(), values.tolist(), strict=True))

    def matrix(self, view: str, i: int, bits: int) -> Any:
        """The features of event i as a `scipy.sparse.csr_matrix` of float64[1, 2^bits], with ascending columns.

        The column is the bucket modulo 2^bits, as if features were hashed to 2^bits buckets.
        """
        from scipy.sparse import csr_matrix

        buckets, values = self._entries(view, i)
        columns, indptr = buckets & ((1 << bits) - 1), np.array([0, buckets.size], np.int32)
        matrix = csr_matrix((values.astype(np.float64), columns, indptr), shape=(1, 1 << bits))
        matrix.sum_duplicates()
        return matrix

    def _entries(self, view: str, i: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        indptr, buckets, values = self._features[view]
        entries = slice(indptr[i], indptr[i + 1])
        return buckets[entries], values[entries]
