"""What all learners share."""

import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import ConfigError, RecordError
from streamlin.features import View
from streamlin.features.rows import Examples
from streamlin.features.views import Views
from streamlin.learners.linear import scale_to_one
from streamlin.learners.mixing import Change
from streamlin.learners.priors import Priors
from streamlin.learners.standalone import StandaloneLearner
from streamlin.learners.tables import Array, grown
from streamlin.learners.targets import Targets
from streamlin.storage.arrays import Expected, expected

Rows = slice | NDArray[np.int32]
"""Some rows of a table: a slice, or their numbers."""
ALL = slice(None)


class Learner(StandaloneLearner):
    """An online classifier of hashed features.

    A subclass creates its tables, empty, and names them; one kernel scores and learns. Tables grow; new rows and labels
    always start as zeros.

    Without a pipeline it takes texts, or mappings of feature to value. In a pipeline it takes `Examples` whose rows and
    labels the pipeline numbers, and its own `view` and `labels` are not used.

    Parameters
    ----------
    features : how texts become features; by default words and pairs of words in 2^20 buckets. Several views, for texts
        only, are read as one: what `normalize` scales to length 1 is then each view's values.

    Raises
    ------
    ConfigError : `features` is not a `View`, or a sequence of them.
    """

    name: ClassVar[str]
    weights: NDArray[np.float32]
    tables: tuple[str, ...]
    """The learned arrays: two dimensions are [n_rows, n_labels], one is [n_labels], none is a single number.

    A replacement must have the same shape, since `grow` remembers how much room the tables have.
    """
    shared: tuple[str, ...] = ()
    """Names of tables that are [n_rows, 1]: one value for each feature, shared by all labels."""
    learns_unlabelled: bool = False
    """Whether it learns from texts without a label, which have the code -2 in its targets."""
    normalize: bool = False
    """Whether an event's values are scaled to length 1; those of each view, where it reads several."""
    n_views: int = 1
    """How many views it reads. The values of several come scaled already (`streamlin.features.joint`)."""
    nonnegative_values: ClassVar[bool] = False
    """Whether the values of features must be 0 or more."""

    def __init__(self, features: View | Sequence[View] | None = None) -> None:
        views = [features or View()] if isinstance(features, View | None) else features
        if not (isinstance(views, list | tuple) and views and all(isinstance(view, View) for view in views)):
            raise ConfigError(
                f"features must be a View, as in View(ViewConfig(...)), or a list of them, got {features!r}"
            )
        self.n_views = len(views)
        super().__init__(views[0] if self.n_views == 1 else Views(views))
        self._rows_in_use = 0
        self._room = (0, 0)

    def __init_subclass__(cls) -> None:
        cls._has_step = cls.kernels is not None and cls.score_then_learn is Learner.score_then_learn

    def __getstate__(self) -> dict[str, Any]:
        """The state for a copy: all that was learned, without the arrays that are kept for speed."""
        return {name: value for name, value in vars(self).items() if name != "_singles"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copy arrays that are read-only or mapped from a file: kernels accept neither."""
        vars(self).update(state)
        for name, array in state.items():
            if isinstance(array, np.ndarray) and not (type(array) is np.ndarray and array.flags.writeable):
                setattr(self, name, np.array(array))

    def __repr__(self) -> str:
        names = [name for name in inspect.signature(type(self)).parameters if name in vars(self)]
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    def score_then_learn(self, examples: Examples, targets: Targets, scores: NDArray[np.float64]) -> None:
        """Set scores float64[n, n_labels], event by event, each before its event is learned.

        A label that is not known yet at an event scores -inf. The tables must already have room for all rows and labels
        of the batch, see `grow`.
        """
        kernels = self.kernels_in_use()
        if kernels is None:
            raise NotImplementedError
        kernels.learn_batch(*examples, *targets, *self.arguments(), scores)

    def arguments(self) -> tuple[Any, ...]:
        """The kernel's arguments between the batch and the scores; the same objects as long as no table is replaced."""
        raise NotImplementedError

    @property
    def scales(self) -> bool:
        """Whether its kernel scales an event's values to length 1."""
        return self.normalize and self.n_views == 1

    def check_values(self, values: NDArray[np.float32]) -> None:
        """Raise RecordError for values of a mapping from which it can't learn."""
        if self.nonnegative_values and values.min(initial=0) < 0:
            raise RecordError(f"{self.name}: a value is {values.min()}, it must be 0 or more")

    def grow(self, n_rows: int, n_labels: int) -> None:
        """Make room: rows double; labels grow by an eighth only, since a row uses its memory for all labels at once."""
        if n_rows > self._room[0] or n_labels > self._room[1]:
            for name in self.tables:
                setattr(self, name, grown(getattr(self, name), self._shape(name, n_rows, n_labels), self._rows_in_use))
            self._release_tables()
            self._room = self._capacity(n_rows, n_labels)
        self._rows_in_use = max(self._rows_in_use, n_rows)

    def effective_weights(self, n_rows: int, n_labels: int, of: Rows = ALL) -> NDArray[np.floating[Any]]:
        """[n_rows, n_labels]: what each feature adds to each label's score, for a value of 1 after normalisation.

        of : the rows wanted, by default all.
        """
        weights: NDArray[np.floating[Any]] = self.state(n_rows, n_labels)["weights"][of]
        return weights

    @property
    def has_effective_weights(self) -> bool:
        """Whether `effective_weights` works: a table `weights` holds them, or the learner overrides the method."""
        if type(self).effective_weights is not Learner.effective_weights:
            return True
        table = getattr(self, "weights", None)
        return "weights" in self.tables and "weights" not in self.shared and table is not None and table.ndim == 2

    @property
    def prior_step(self) -> float | None:
        """What one occurrence of a word set by hand adds to its weight: the learner's step for a text that is this word
        alone, at a loss of 1. None: it starts without such words.
        """
        return None

    @property
    def takes_priors(self) -> bool:
        """Whether it can start with words set by hand."""
        return self.prior_step is not None

    def start_with(self, priors: Priors) -> None:
        """Start with words set by hand, before anything is learned: W_kj = step times their strengths.

        The tables must already have room for their rows and labels.
        """
        step = self.prior_step
        if step is None:
            raise NotImplementedError
        self.weights[priors.rows, priors.codes] = step * priors.strengths

    def mix(self, changes: Sequence[Change]) -> None:
        """Add to the tables what each shard has changed, in the order of the shards; see `streamlin.learners.mixing`.

        The tables are those from which all shards began, with room for all rows and labels.
        """
        raise NotImplementedError

    def why_unmixable(self, most_events: int) -> str | None:
        """Why shards of up to `most_events` events can't be mixed; None if they can."""
        mixes = type(self).mix is not Learner.mix
        return None if mixes else f"{self.name} has no rule by which the changes of several shards are mixed"

    def contributions(self, examples: Examples, n_labels: int) -> NDArray[np.float64]:
        """float64[m, n_labels]: what each of an event's m entries that have a row adds to each label's score.

        Their sum, added to the scores of an event without features, gives the event's scores.
        """
        rows, values = examples.rows[: examples.indptr[1]], examples.values[: examples.indptr[1]]
        known = rows >= 0
        scale = scale_to_one(examples, 0) if self.scales else 1.0
        weights = self.effective_weights(int(examples.rows_before[0]), n_labels, rows[known])
        return scale * values[known, None].astype(np.float64) * weights

    def state(self, n_rows: int, n_labels: int) -> dict[str, Array]:
        """Every table, cut to the rows and labels in use; views, not copies."""
        self.grow(n_rows, n_labels)
        used = {name: map(slice, self._shape(name, n_rows, n_labels)) for name in self.tables}
        return {name: getattr(self, name)[(*slices, ...)] for name, slices in used.items()}  # numbers stay arrays

    def expected(self, n_rows: int, n_labels: int) -> dict[str, Expected]:
        """What the tables of a `state` with so many rows and labels must be."""
        return {name: expected(getattr(self, name).dtype, *self._shape(name, n_rows, n_labels)) for name in self.tables}

    def table_bytes(self, n_rows: int, n_labels: int) -> int:
        """The size of all tables for so many rows and labels."""
        sizes = (math.prod(self._shape(name, n_rows, n_labels)) * getattr(self, name).itemsize for name in self.tables)
        return sum(sizes)

    def _shape(self, name: str, n_rows: int, n_labels: int) -> tuple[int, ...]:
        """The shape that a table needs for this many rows and labels."""
        if name in self.shared:
            return n_rows, 1
        return (n_rows, n_labels)[2 - getattr(self, name).ndim :]

    def _capacity(self, n_rows: int, n_labels: int) -> tuple[int, int]:
        """The numbers of rows and labels for which all tables have room, at least those given."""
        shapes = [getattr(self, name).shape for name in self.tables if name not in self.shared]
        rows = min((shape[0] for shape in shapes if len(shape) == 2), default=n_rows)
        return rows, min((shape[-1] for shape in shapes if shape), default=n_labels)

    def restore(self, state: Mapping[str, Array]) -> None:
        """Use the tables of a `state`, without copying them."""
        for name in self.tables:
            setattr(self, name, state[name])
        self._room = (0, 0)
        self._rows_in_use = max((len(table) for table in state.values() if table.ndim == 2), default=0)
