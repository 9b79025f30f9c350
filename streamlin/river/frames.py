"""What pandas holds, as features."""

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from streamlin.errors import RecordError
from streamlin.features import Buckets, View
from streamlin.features.sparse import entries
from streamlin.river.names import as_text


def features_of(X: Any, view: View) -> Buckets:
    """A Series of texts, or a DataFrame whose columns are features and whose rows are events, with a value for each.

    Raises
    ------
    RecordError : what should be a text is none; a value is not finite in float32.
    ValueError : a value is no number.
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
        raise RecordError(f"{odd[0]!r:.80} can't be learned from; all must be texts")
    return given
