"""What all learners share."""

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import ConfigError
from streamlin.features import View
from streamlin.features.rows import Examples
from streamlin.learners.alone import Alone
from streamlin.learners.linear import scale_to_one
from streamlin.learners.tables import Array, grown
from streamlin.learners.targets import Targets

Rows = slice | NDArray[np.int32]
"""Some rows of a table: a slice, or their numbers."""
ALL = slice(None)


class Learner(Alone):
    """An online classifier of hashed features.

    A subclass makes its tables, empty, and names them; it learns in one kernel. Tables grow; what a new row or label
    holds is zeros, always.

    Used alone it takes texts, or mappings of feature to value; in a pipeline it takes `Examples` whose rows and labels
    the pipeline gives out, and leaves its own `view`, `rows` and `labels` alone.

    Parameters
    ----------
    features : how texts become features; words and pairs of words in 2^20 buckets unless told otherwise.

    Raises
    ------
    ConfigError : `features` is no view.
    """

    name: ClassVar[str]
    tables: ClassVar[tuple[str, ...]]
    """The arrays that are learned: of two dimensions, [n_rows, n_labels]; of one, [n_labels]; of none, a number.

    Whoever replaces one, does so by one of the same shape: `grow` knows what room there is.
    """
    shared: tuple[str, ...] = ()
    """Those of two dimensions that are [n_rows, 1]: what a feature has for all its labels."""
    normalize: bool = False
    """Whether an event's values are scaled to length 1."""

    def __init__(self, features: View | None = None) -> None:
        if not isinstance(features, View | None):
            raise ConfigError(f"features must be a View, as in View(ViewConfig(...)), got {features!r}")
        super().__init__(View() if features is None else features)
        self._rows_in_use = 0
        self._room = (0, 0)

    def __init_subclass__(cls) -> None:
        cls._has_step = cls.kernels is not None and cls.score_then_learn is Learner.score_then_learn

    def __getstate__(self) -> dict[str, Any]:
        """What a copy gets: what was learned, not what is kept for speed."""
        return {name: value for name, value in vars(self).items() if name != "_singles"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Tables that can't be written to, or are maps of a file, are copied: no kernel takes them."""
        vars(self).update(state)
        for name in self.tables:
            table = state[name]
            setattr(self, name, table if type(table) is np.ndarray and table.flags.writeable else np.array(table))

    def __repr__(self) -> str:
        names = [name for name in inspect.signature(type(self)).parameters if name in vars(self)]
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    def score_then_learn(self, examples: Examples, targets: Targets, scores: NDArray[np.float64]) -> None:
        """Set scores float64[n, n_labels], event by event, each before its event was learned.

        -inf where a label is no candidate yet. The tables must have been grown to all rows and labels of the batch.
        """
        if self.kernels is None:
            raise NotImplementedError
        self.kernels.learn_batch(*examples, *targets, *self.arguments(), scores)

    def arguments(self) -> tuple[Any, ...]:
        """What the kernel gets beside a batch and its scores; the same objects while nothing is changed."""
        raise NotImplementedError

    def check_values(self, values: NDArray[np.float32]) -> None:
        """Raise RecordError if the values of a mapping are none to learn from."""

    def grow(self, n_rows: int, n_labels: int) -> None:
        """Make room: rows double, labels grow by a quarter (a row of many labels is memory in use at once)."""
        if n_rows > self._room[0] or n_labels > self._room[1]:
            for name in self.tables:
                setattr(self, name, grown(getattr(self, name), self._shape(name, n_rows, n_labels), self._rows_in_use))
            self._outgrown()
            self._room = self._capacity(n_rows, n_labels)
        self._rows_in_use = max(self._rows_in_use, n_rows)

    def effective_weights(self, n_rows: int, n_labels: int, of: Rows = ALL) -> NDArray[np.floating[Any]]:
        """[n_rows, n_labels]: what a feature of value 1, as it is scored, adds to each label's score.

        of : the rows asked for, all unless told otherwise.
        """
        weights: NDArray[np.floating[Any]] = self.state(n_rows, n_labels)["weights"][of]
        return weights

    @property
    def tells_weights(self) -> bool:
        """Whether `effective_weights` can tell them: a table of that name holds them, or the learner computes them."""
        if type(self).effective_weights is not Learner.effective_weights:
            return True
        table = getattr(self, "weights", None)
        return "weights" in self.tables and "weights" not in self.shared and table is not None and table.ndim == 2

    def contributions(self, examples: Examples, n_labels: int) -> NDArray[np.float64]:
        """float64[m, n_labels]: what each of an event's m entries that have a row adds to each label's score.

        Together with the scores of an event without features they are the event's scores.
        """
        rows, values = examples.rows[: examples.indptr[1]], examples.values[: examples.indptr[1]]
        known = rows >= 0
        scale = scale_to_one(examples, 0) if self.normalize else 1.0
        weights = self.effective_weights(int(examples.rows_before[0]), n_labels, rows[known])
        return scale * values[known, None].astype(np.float64) * weights

    def state(self, n_rows: int, n_labels: int) -> dict[str, Array]:
        """Every table, cut to the rows and labels in use; views, not copies."""
        self.grow(n_rows, n_labels)
        used = {name: map(slice, self._shape(name, n_rows, n_labels)) for name in self.tables}
        return {name: getattr(self, name)[(*slices, ...)] for name, slices in used.items()}  # a number stays an array

    def _shape(self, name: str, n_rows: int, n_labels: int) -> tuple[int, ...]:
        """What a table needs for so many rows and labels."""
        if name in self.shared:
            return n_rows, 1
        return (n_rows, n_labels)[2 - getattr(self, name).ndim :]

    def _capacity(self, n_rows: int, n_labels: int) -> tuple[int, int]:
        """For how many rows and labels all tables have room, which is at least for these."""
        shapes = [getattr(self, name).shape for name in self.tables if name not in self.shared]
        rows = min((shape[0] for shape in shapes if len(shape) == 2), default=n_rows)
        return rows, min((shape[-1] for shape in shapes if shape), default=n_labels)

    def restore(self, state: Mapping[str, Array]) -> None:
        """Take tables that `state` gave; they are not copied."""
        for name in self.tables:
            setattr(self, name, state[name])
        self._room = (0, 0)
        self._rows_in_use = max((len(table) for table in state.values() if table.ndim == 2), default=0)
