"""Features from pandas."""

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from streamlin.errors import RecordError
from streamlin.features import Buckets, View
from streamlin.features.sparse import entries
from streamlin.features.views import Blocks, Views
from streamlin.river.names import as_text


def features_of(X: Any, view: View | Views) -> Buckets | Blocks:
    """Features of a Series of texts, or of a DataFrame with one row for each event and one column for each feature.

    Raises
    ------
    RecordError : an element of a Series is not a text; a value is not finite in float32.
    ValueError : a value is not a number.
    """
    if X.ndim == 1:
        return view.of_texts(_texts(X.tolist()))
    found = entries(csr_matrix(X.sparse.to_coo()) if hasattr(X, "sparse") else csr_matrix(X.to_numpy(np.float32)))
    odd = found.buckets[~np.isfinite(found.values)]
    if odd.size:
        raise RecordError(f"feature '{X.columns[odd[0]]}' has a value that is not a finite number in float32")
    return view.of_columns([as_text(name) for name in X.columns], found)


def _texts(given: list[Any]) -> list[str]:
    odd = [x for x in given if not isinstance(x, str)]
    if odd:
        raise RecordError(f"invalid input {odd[0]!r:.80}: expected only texts")
    return given
