"""Several views for a learner that is used without a pipeline."""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import RecordError
from streamlin.features.joint import JointRows
from streamlin.features.rows import Examples, RowIndex
from streamlin.features.view import Buckets, View

_TEXTS_ONLY = "a learner of several views takes texts only: features that are given by name or number have no views"


class Blocks(NamedTuple):
    """The features of n events in each of several views."""

    of: tuple[Buckets, ...]

    @property
    def indptr(self) -> NDArray[np.int64]:
        """int64[n + 1], of all views together."""
        return reduce(np.add, (buckets.indptr for buckets in self.of))

    def take(self, events: NDArray[np.int64]) -> "Blocks":
        """The features of some events, in the order given."""
        return Blocks(tuple(buckets.take(events) for buckets in self.of))


class Views:
    """Several views of the same texts, with the methods of one that learners use."""

    def __init__(self, views: Sequence[View]) -> None:
        self.of = tuple(views)

    def __repr__(self) -> str:
        return f"{list(self.of)!r}"

    def of_texts(self, texts: Sequence[str]) -> Blocks:
        """The features of texts without categories."""
        return Blocks(tuple(view.of_texts(texts) for view in self.of))

    def of_mappings(self, mappings: Sequence[Mapping[str, float]]) -> Blocks:
        """Raises RecordError."""
        raise RecordError(_TEXTS_ONLY)

    def of_columns(self, names: Sequence[str], entries: Buckets) -> Blocks:
        """Raises RecordError."""
        raise RecordError(_TEXTS_ONLY)


class JointIndex:
    """The row indexes of several views, and the learner's rows, as one index."""

    def __init__(self, views: Views, scaled: bool) -> None:
        self._indexes = [RowIndex(view.bits) for view in views.of]
        self._joint = JointRows(self._indexes, scaled)

    def __len__(self) -> int:
        return len(self._joint)

    @property
    def n_rows(self) -> int:
        return len(self._joint)

    def examples(self, features: Blocks, learned: NDArray[np.bool_] | None = None) -> Examples:
        """See `RowIndex`."""
        own = [index.examples(found, learned) for index, found in zip(self._indexes, features.of, strict=True)]
        return self._joint.examples(own)


class JointEvent:
    """One text as the learner reads it, in the manner of `SingleEvent`, but with new arrays for each text."""

    examples: Examples

    def __init__(self, view: Views, index: JointIndex) -> None:
        self.view, self._index = view, index

    @property
    def room(self) -> int:
        """The number of entries."""
        return self.examples.rows.size

    @property
    def values(self) -> NDArray[np.float32]:
        """float32[nnz]."""
        return self.examples.values

    def featurize(self, x: Any) -> None:
        """Set the features to those of a text. Raises RecordError for a mapping."""
        self._blocks = self.view.of_texts([x]) if isinstance(x, str) else self.view.of_mappings([x])
        self.examples = self._index.examples(self._blocks)

    def bring_rows(self) -> None:
        """Assign rows to the features that have none."""
        self.examples = self._index.examples(self._blocks, np.ones(1, np.bool_))
