"""What all learners share, in a pipeline and alone."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import inf
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import ConfigError, RecordError
from streamlin.events import LabelIndex
from streamlin.features import Buckets, View
from streamlin.features.rows import Examples, RowIndex
from streamlin.features.single import SingleEvent
from streamlin.learners.linear import scale_to_one
from streamlin.learners.step import Step
from streamlin.learners.tables import Array, grown

Text = str | Mapping[str, float]
"""A text, or a mapping of feature to value."""
Rows = slice | NDArray[np.int32]
"""Some rows of a table: a slice, or their numbers."""
ALL = slice(None)

_KINDS = (str, dict, Mapping)  # what is told quickly comes first
_LARGE = 1 << 16
"""How many entries an event's arrays may hold if they are kept."""


class Targets(NamedTuple):
    """The labels of a batch of n events.

    codes : int32[n]; -1 where there is none, or nothing to be learned.
    known : int64[n]; labels that events before event i brought: the candidates for its prediction.
    weights : float64[n], >= 0; what the update is multiplied by.
    """

    codes: NDArray[np.int32]
    known: NDArray[np.int64]
    weights: NDArray[np.float64]


def targets(codes: NDArray[np.int32], weights: NDArray[np.float64], n_known: int) -> Targets:
    """Targets of label codes given in order of first sight, `n_known` of them before this batch."""
    known = np.empty(codes.size + 1, np.int64)
    known[0] = n_known
    np.maximum.accumulate(codes + 1, out=known[1:])
    return Targets(codes, np.maximum(known[:-1], n_known), weights)


def learn_labels(index: LabelIndex, labels: Sequence[str | None], weights: NDArray[np.float64]) -> Targets:
    """Targets of the labels of n events; new ones get codes, but an event of weight 0 neither has nor brings one."""
    n_known = len(index)
    if not weights.all():
        labels = [label if w > 0 else None for label, w in zip(labels, weights, strict=True)]
    return targets(index.learn(labels), weights, n_known)


class Kernels(NamedTuple):
    """A learner's kernel: for a batch, which gets `*examples, *targets, *arguments, scores`, and entered by `Step`."""

    learn_batch: Callable[..., None]
    learn_event: Callable[..., int]


class Learner:
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
    kernels: ClassVar[Kernels | None] = None
    """What learns. Who has none, or does more, overrides `score_then_learn`."""
    _has_step: ClassVar[bool] = False
    normalize: bool = False
    """Whether an event's values are scaled to length 1."""

    def __init__(self, features: View | None = None) -> None:
        if not isinstance(features, View | None):
            raise ConfigError(f"features must be a View, as in View(ViewConfig(...)), got {features!r}")
        self.view = View() if features is None else features
        self.labels = LabelIndex()
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

    # --- in a pipeline

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

    def grow(self, n_rows: int, n_labels: int) -> None:
        """Make room: rows double, labels grow by a quarter (a row of many labels is memory in use at once)."""
        if n_rows > self._room[0] or n_labels > self._room[1]:
            for name in self.tables:
                setattr(self, name, grown(getattr(self, name), self._shape(name, n_rows, n_labels), self._rows_in_use))
            for single in vars(self).get("_singles", ()):
                single.step = None  # it would keep the tables that are outgrown
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

    # --- alone

    def learn_one(self, x: Text, y: str, w: float = 1.0) -> Self:
        """Learn one labelled text, or mapping of feature to value; w >= 0 is its weight. Errors as in `learn_many`."""
        if y is not None and not isinstance(y, str):
            raise RecordError(f"a label must be a text or None, got {y!r}")
        self.learn_label(x, y or None, w)
        return self

    def learn_label(self, x: Text, label: Any, w: float = 1.0) -> None:
        """`learn_one` of a label of whatever kind can be a key; None: there is none."""
        weight = w if type(w) is float and 0.0 <= w < inf else float(checked_weights([w])[0])
        single, names = self._taken(x), self.labels.names
        n_known = len(names)
        code = self.labels.learn_one(label) if weight > 0 else -1
        if code >= 0:
            single.event.bring_rows()
            self.grow(self._rows.n_rows, len(names))
        self._step(single, code, n_known, weight)
        self._give_back(single)

    def predict_one(self, x: Text) -> str | None:
        """The best scored label; None while no label is known."""
        single, names = self._taken(x), self.labels.names
        code = self._step(single, -1, len(names), 1.0)
        self._give_back(single)
        return names[code] if code >= 0 else None

    def predict_proba_one(self, x: Text) -> dict[str, float]:
        """Each label's probability: the softmax of the scores."""
        probabilities = softmax(self.scores_one(x))[0]
        return dict(zip(self.labels.names, probabilities.tolist(), strict=True))

    def learn_many(self, xs: Sequence[Text], ys: Sequence[str | None], ws: Sequence[float] = ()) -> list[str | None]:
        """Predict, then learn, one after the other; the predictions that were made before each was learned.

        Raises
        ------
        RecordError : a weight, a label, a text or a feature's value is not what it must be; then nothing was learned.
        ValueError : xs, ys and ws differ in length.
        """
        odd = [y for y in ys if not isinstance(y, str | None)]
        if odd:
            raise RecordError(f"a label must be a text or None, got {odd[0]!r}")
        weights = checked_weights(ws) if len(ws) else np.ones(len(ys))
        if not len(xs) == len(ys) == len(weights):
            raise ValueError(f"xs, ys and ws must be of one length, got {len(xs)}, {len(ys)} and {len(weights)}")
        scores = self.learn_features(self._buckets(xs), [y or None for y in ys], weights)
        return self.best_labels(scores)

    def learn_features(
        self, features: Buckets, labels: Sequence[Any], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """`learn_many` of hashed features, and of labels of whatever kind can be a key; None: there is none.

        Returns scores float64[n, n_labels], each event's made before it was learned, -inf where a label was none yet.

        Raises
        ------
        ValueError : features, labels and weights are of different lengths.
        """
        n = features.indptr.size - 1
        if not n == len(labels) == weights.size:
            raise ValueError(f"there are {n} events, {len(labels)} labels and {weights.size} weights")
        batch = learn_labels(self.labels, labels, weights)
        examples = self._rows.examples(features, batch.codes >= 0)
        self.grow(self.n_rows, len(self.labels))
        scores = np.empty((len(labels), len(self.labels)))
        self.score_then_learn(examples, batch, scores)
        return scores

    def predict_many(self, xs: Sequence[Text]) -> list[str | None]:
        """The best scored label of each; None while no label is known."""
        return self.best_labels(self.scores_many(xs))

    def scores_many(self, xs: Sequence[Text]) -> NDArray[np.float64]:
        """Scores float64[n, n_labels]; nothing is learned."""
        return self.score_features(self._buckets(xs))

    def score_features(self, features: Buckets) -> NDArray[np.float64]:
        """`scores_many` of hashed features."""
        n, n_labels = features.indptr.size - 1, len(self.labels)
        scores = np.empty((n, n_labels))
        self.score_then_learn(self._rows.examples(features), no_targets(n, n_labels), scores)
        return scores

    def scores_one(self, x: Text) -> NDArray[np.float64]:
        """Scores float64[1, n_labels] of one text or mapping; nothing is learned."""
        single = self._taken(x)
        self._step(single, -1, len(self.labels.names), 1.0)
        scores = single.scores.copy()
        self._give_back(single)
        return scores

    def best_labels(self, scores: NDArray[np.float64]) -> list[Any]:
        """The best scored label of each row; None where there is no candidate."""
        return [self.labels.names[code] if code >= 0 else None for code in best(scores)]

    def check_values(self, values: NDArray[np.float32]) -> None:
        """Raise RecordError if the values of a mapping are none to learn from."""

    def _buckets(self, xs: Sequence[Any]) -> Buckets:
        kind: type = str if isinstance(next(iter(xs), ""), str) else Mapping
        odd = [x for x in xs if not isinstance(x, kind)]
        if odd:
            raise _refused(odd[0])
        if kind is str:
            return self.view.of_texts(xs)
        features = self.view.of_mappings(xs)
        self.check_values(features.values)
        return features

    def _step(self, single: "_Single", code: int, known: int, weight: float) -> int:
        """Score, then learn, one event; the best scored label's code, -1 where there is no candidate."""
        examples, n_labels = single.event.examples, len(self.labels.names)
        if self.kernels is None or not self._has_step:
            single.scores = np.empty((1, n_labels))
            goals = Targets(np.array([code], np.int32), np.array([known]), np.array([weight]))
            self.score_then_learn(examples, goals, single.scores)
            return int(best(single.scores)[0])
        arguments, step = self.arguments(), single.step
        if step is None or not step.fits(examples, arguments, n_labels):
            single.step = step = Step(examples, arguments, n_labels)
            single.scores = step.scores
        return step.take(self.kernels.learn_event, code, known, weight)

    def _taken(self, x: Text) -> "_Single":
        """The features of x; who was given the event is alone with it until it is given back."""
        if not isinstance(x, _KINDS):
            raise _refused(x)
        try:
            single = self._singles.pop()
        except IndexError:
            single = _Single(SingleEvent(self.view, self._rows))
        if single.event.view is not self.view:
            single = _Single(SingleEvent(self.view, self._rows))
        single.event.take(x)
        if not isinstance(x, str):
            self.check_values(single.event.values)
        return single

    def _give_back(self, single: "_Single") -> None:
        if single.event.room <= _LARGE:
            self._singles.append(single)

    @cached_property
    def _singles(self) -> "list[_Single]":
        """Those that no thread is using, the latest last; not part of a copy."""
        return []

    @property
    def n_rows(self) -> int:
        """How many features it knows; used alone."""
        return len(self._rows)

    @cached_property
    def _rows(self) -> RowIndex:
        """Made once it is used alone: in a pipeline, 4 bytes a bucket for nothing."""
        return RowIndex(self.view.bits)


class _Single:
    """One event, and how it was last scored."""

    def __init__(self, event: SingleEvent) -> None:
        self.event = event
        self.step: Step | None = None
        self.scores = np.empty((1, 0))


def _refused(x: object) -> RecordError:
    return RecordError(f"{x!r:.80} can't be learned from; all must be texts, or all mappings")


def checked_weights(ws: Any) -> NDArray[np.float64]:
    """Numbers as weights float64[n]; raises RecordError for those that can't be one."""
    weights = np.array(ws, np.float64)
    refused = weights[~((weights >= 0) & np.isfinite(weights))]
    if refused.size:
        raise RecordError(f"a weight is {refused[0]}; it must be a finite number, 0 or more")
    return weights


def no_targets(n: int, n_labels: int) -> Targets:
    """Targets of n events without labels."""
    return Targets(np.full(n, -1, np.int32), np.full(n, n_labels, np.int64), np.ones(n))


def best(scores: NDArray[np.float64]) -> NDArray[np.int32]:
    """int32[n], the best scored label's code; ties go to the label seen first, -1 where there is no candidate."""
    if scores.shape[1] == 0:
        return np.full(scores.shape[0], -1, np.int32)
    winners: NDArray[np.int32] = scores.argmax(axis=1).astype(np.int32)
    winners[np.isneginf(scores.max(axis=1))] = -1
    return winners


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[n, n_labels] probabilities of scores that have a candidate each."""
    if scores.shape[1] == 0:
        return scores
    powers: NDArray[np.float64] = np.exp(scores - scores.max(axis=1, keepdims=True))
    powers /= powers.sum(axis=1, keepdims=True)
    return powers
