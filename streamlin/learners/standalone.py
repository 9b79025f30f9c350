"""A learner used without a pipeline, on texts or mappings, one at a time or many at once."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from streamlin.config.priors import checked_priors
from streamlin.errors import ConfigError, RecordError
from streamlin.events import MAX_WEIGHT, LabelIndex
from streamlin.features import Buckets, View
from streamlin.features.rows import Examples, RowIndex
from streamlin.features.single import SingleEvent
from streamlin.features.views import Blocks, JointEvent, JointIndex, Views
from streamlin.learners.priors import Priors, learn_priors
from streamlin.learners.scores import best, softmax
from streamlin.learners.step import Kernels, Step
from streamlin.learners.targets import (
    NOT_LEARNED,
    UNLABELLED,
    Targets,
    checked_weights,
    learn_labels,
    no_targets,
    with_unlabelled,
    without_label,
)

Text = str | Mapping[str, float]
"""A text, or a mapping of feature to value."""

_TYPES = (str, dict, Mapping)  # those that isinstance finds quickly come first
_LARGEST_KEPT = 1 << 16
"""Arrays of events with more entries than these are not kept for the next event."""


class StandaloneLearner(ABC):
    """The methods of a learner that need no pipeline: it hashes texts itself, and numbers features and labels itself.

    view : how texts become features. labels : the labels learned so far.
    """

    kernels: ClassVar[Kernels | None] = None
    """The kernels that score and learn. A learner without them overrides `score_then_learn`."""
    _has_step: ClassVar[bool] = False
    """Whether the kernels do all the scoring and learning, so that one event can go straight to `learn_event`."""

    learns_unlabelled: bool
    normalize: bool
    """See `Learner`."""

    def __init__(self, view: View | Views) -> None:
        self.view, self.labels = view, LabelIndex()

    def kernels_in_use(self) -> Kernels | None:
        """The kernels for the learner's parameters."""
        return self.kernels

    @abstractmethod
    def score_then_learn(self, examples: Examples, targets: Targets, scores: NDArray[np.float64]) -> None:
        """See `Learner`."""

    @abstractmethod
    def arguments(self) -> tuple[Any, ...]:
        """See `Learner`."""

    @abstractmethod
    def grow(self, n_rows: int, n_labels: int) -> None:
        """See `Learner`."""

    @property
    @abstractmethod
    def takes_priors(self) -> bool:
        """See `Learner`."""

    @abstractmethod
    def start_with(self, priors: Priors) -> None:
        """See `Learner`."""

    @abstractmethod
    def check_values(self, values: NDArray[np.float32]) -> None:
        """See `Learner`."""

    def set_priors(self, priors: Mapping[str, Mapping[str, float]], strength: float = 10.0) -> Self:
        """Start with words set by hand, before anything is learned. The labels are known from then on.

        Parameters
        ----------
        priors : label -> word or phrase -> its weight, above 0. A word is cut by the view of the learner, and is the
            feature of that name where mappings are learned.
        strength : how many occurrences a word of weight 1 stands for.

        Raises
        ------
        ConfigError : something was learned before; a word is not an n-gram of the view; a weight is not above 0 and
            finite; the learner has no such start.
        """
        if not self.takes_priors:
            raise ConfigError(f"{type(self).__name__} can't start with words set by hand")
        if isinstance(self.view, Views):
            raise ConfigError("set_priors: expected a learner of one view; [priors] of a pipeline are for several, too")
        if len(self.labels):
            raise ConfigError(f"set_priors: expected a learner that knows no label yet, got {len(self.labels)}")
        config, labels, index = checked_priors(priors, strength), LabelIndex(), RowIndex(self.view.bits)
        found = learn_priors(config, self.view, index, labels)
        self.labels.learn(labels.names)
        self._rows.bring(index.buckets)
        self.grow(self.n_rows, len(self.labels))
        self.start_with(found)
        return self

    def learn_one(self, x: Text, y: str | None, w: float = 1.0) -> Self:
        """Learn one text, or mapping of feature to value; w >= 0 is its weight. Errors as in `learn_many`.

        Without a label, None, only a learner with `learns_unlabelled` learns from it.
        """
        if y is not None and not isinstance(y, str):
            raise RecordError(f"a label must be a text or None, got {y!r}")
        self.learn_label(x, y or None, w)
        return self

    def learn_label(self, x: Text, label: Any, w: float = 1.0) -> None:
        """`learn_one` for a label of any hashable type; None: no label."""
        weight = w if type(w) is float and 0.0 <= w <= MAX_WEIGHT else float(checked_weights([w])[0])
        single, names = self._featurized(x), self.labels.names
        n_known = len(names)
        code = self.labels.learn_one(label) if weight > 0 else NOT_LEARNED
        if code < 0 and self.learns_unlabelled and label is None and weight > 0 and n_known:
            code = UNLABELLED
        if code != NOT_LEARNED:
            single.event.bring_rows()
            self.grow(self._rows.n_rows, len(names))
        self._step(single, code, n_known, weight)
        self._release(single)

    def predict_one(self, x: Text) -> str | None:
        """The best scored label; None while no label is known."""
        single, names = self._featurized(x), self.labels.names
        code = self._step(single, -1, len(names), 1.0)
        self._release(single)
        return names[code] if code >= 0 else None

    def predict_proba_one(self, x: Text) -> dict[str, float]:
        """Each label's probability: the softmax of the scores."""
        probabilities = softmax(self.scores_one(x))[0]
        return dict(zip(self.labels.names, probabilities.tolist(), strict=True))

    def learn_many(self, xs: Sequence[Text], ys: Sequence[str | None], ws: Sequence[float] = ()) -> list[str | None]:
        """Predict, then learn, event by event; returns the predictions, each made before its event was learned.

        Raises
        ------
        RecordError : a weight, a label, a text or a feature's value is invalid; then nothing was learned.
        ValueError : xs, ys and ws differ in length.
        """
        odd = [y for y in ys if not isinstance(y, str | None)]
        if odd:
            raise RecordError(f"a label must be a text or None, got {odd[0]!r}")
        weights = checked_weights(ws) if len(ws) else np.ones(len(ys))
        if not len(xs) == len(ys) == len(weights):
            raise ValueError(f"xs, ys and ws must have the same length, got {len(xs)}, {len(ys)} and {len(weights)}")
        scores = self.learn_features(self._buckets(xs), [y or None for y in ys], weights)
        return self.best_labels(scores)

    def learn_features(
        self, features: Buckets | Blocks, labels: Sequence[Any], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """`learn_many` for hashed features, and for labels of any hashable type; None: no label.

        Returns scores float64[n, n_labels], each event's made before it was learned; -inf for labels not known then.

        Raises
        ------
        ValueError : features, labels and weights differ in length.
        """
        n = features.indptr.size - 1
        if not n == len(labels) == weights.size:
            raise ValueError(
                f"features, labels and weights must have the same length, got {n}, {len(labels)} and {weights.size}"
            )
        batch = learn_labels(self.labels, labels, weights)
        if self.learns_unlabelled:
            batch = with_unlabelled(batch, without_label(labels))
        examples = self._rows.examples(features, batch.codes != NOT_LEARNED)
        self.grow(self.n_rows, len(self.labels))
        scores = np.empty((len(labels), len(self.labels)))
        self.score_then_learn(examples, batch, scores)
        return scores

    def predict_many(self, xs: Sequence[Text]) -> list[str | None]:
        """The best scored label of each; None while no label is known."""
        return self.best_labels(self.scores_many(xs))

    def scores_many(self, xs: Sequence[Text]) -> NDArray[np.float64]:
        """Scores float64[n, n_labels], without learning."""
        return self.score_features(self._buckets(xs))

    def score_features(self, features: Buckets | Blocks) -> NDArray[np.float64]:
        """`scores_many` for hashed features."""
        n, n_labels = features.indptr.size - 1, len(self.labels)
        scores = np.empty((n, n_labels))
        self.score_then_learn(self._rows.examples(features), no_targets(n, n_labels), scores)
        return scores

    def scores_one(self, x: Text) -> NDArray[np.float64]:
        """Scores float64[1, n_labels] of one text or mapping, without learning."""
        single = self._featurized(x)
        self._step(single, -1, len(self.labels.names), 1.0)
        scores = single.scores.copy()
        self._release(single)
        return scores

    def best_labels(self, scores: NDArray[np.float64]) -> list[Any]:
        """The best scored label of each row; None where no label was known."""
        return [self.labels.names[code] if code >= 0 else None for code in best(scores)]

    def _buckets(self, xs: Sequence[Any]) -> Buckets | Blocks:
        kind: type = str if isinstance(next(iter(xs), ""), str) else Mapping
        odd = [x for x in xs if not isinstance(x, kind)]
        if odd:
            raise _refused(odd[0])
        if kind is str:
            return self.view.of_texts(xs)
        features = self.view.of_mappings(xs)
        if isinstance(features, Buckets):
            self.check_values(features.values)
        return features

    def _step(self, single: "_Single", code: int, known: int, weight: float) -> int:
        """Score, then learn, one event; returns the code of the best scored label, -1 if no label is known."""
        examples, n_labels = single.event.examples, len(self.labels.names)
        kernels = self.kernels_in_use()
        if kernels is None or not self._has_step:
            single.scores = np.empty((1, n_labels))
            batch = Targets(np.array([code], np.int32), np.array([known]), np.array([weight]))
            self.score_then_learn(examples, batch, single.scores)
            return int(best(single.scores)[0])
        arguments, step = self.arguments(), single.step
        if step is None or not step.fits(examples, arguments, n_labels):
            single.step = step = Step(examples, arguments, n_labels)
            single.scores = step.scores
        return step.run(kernels.learn_event, code, known, weight)

    def _featurized(self, x: Text) -> "_Single":
        """The features of x, in arrays that no other thread uses until they are released."""
        if not isinstance(x, _TYPES):
            raise _refused(x)
        try:
            single = self._singles.pop()
        except IndexError:
            single = self._new_single()
        if single.event.view is not self.view:
            single = self._new_single()
        single.event.featurize(x)
        if not isinstance(x, str):
            self.check_values(single.event.values)
        return single

    def _new_single(self) -> "_Single":
        view = self.view
        return _Single(JointEvent(view, self._rows) if isinstance(view, Views) else SingleEvent(view, self._rows))

    def _release(self, single: "_Single") -> None:
        if single.event.room <= _LARGEST_KEPT:
            self._singles.append(single)

    @cached_property
    def _singles(self) -> "list[_Single]":
        """Arrays for one event that no thread uses now, the latest last; copies of the learner do not get them."""
        return []

    @property
    def n_rows(self) -> int:
        """The number of features known, where it is used without a pipeline."""
        return len(self._rows)

    @cached_property
    def _rows(self) -> Any:
        """A `RowIndex`, or a `JointIndex` for several views.

        Made at the first use without a pipeline: in a pipeline it would cost 4 bytes a bucket for nothing.
        """
        return JointIndex(self.view, self.normalize) if isinstance(self.view, Views) else RowIndex(self.view.bits)

    def _release_tables(self) -> None:
        """Drop references to tables that were replaced by larger ones."""
        for single in vars(self).get("_singles", ()):
            single.step = None


class _Single:
    """The arrays of one event, and the step that last scored it."""

    def __init__(self, event: SingleEvent | JointEvent) -> None:
        self.event = event
        self.step: Step | None = None
        self.scores = np.empty((1, 0))


def _refused(x: object) -> RecordError:
    return RecordError(f"invalid input {x!r:.80}: expected only texts, or only mappings of feature to value")
