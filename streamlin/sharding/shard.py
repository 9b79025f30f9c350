"""One shard's round: it learns its events, one after the other, from the common model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.feature_counts import FeatureCounts
from streamlin.events import Batch, LabelIndex
from streamlin.external_models import Inputs
from streamlin.features import Buckets
from streamlin.learners import Targets, learn_labels
from streamlin.learners.targets import without_label
from streamlin.model import Features, Model
from streamlin.sharding.parts import Before, Part


@dataclass(frozen=True, eq=False)
class Piece:
    """Events of a shard.

    batch, features : those that they are among. events : int64[n], which.
    """

    batch: Batch
    features: Features
    events: NDArray[np.int64]

    @cached_property
    def labels(self) -> list[str | None]:
        """The label of each event."""
        labels = self.batch.labels
        return labels if self._is_whole else [labels[event] for event in self.events.tolist()]

    def own_features(self) -> Mapping[str, Buckets]:
        """Those of the events."""
        if self._is_whole:
            return self.features
        return {view: found.take(self.events) for view, found in self.features.items()}

    @property
    def _is_whole(self) -> bool:
        """Whether all events of the batch are the shard's."""
        return self.events.size == len(self.batch)


class Scored(NamedTuple):
    """What a shard makes of a piece, with labels numbered as the shard does.

    goals : the targets. scores : float64[L, n, n_labels], each made before its event was learned.
    features : how many the events have, and how many of them are new. labels : all known by now.
    """

    goals: Targets
    scores: NDArray[np.float64]
    features: FeatureCounts
    labels: list[str]


def learn_part(model: Model, n_known: int, pieces: Sequence[Piece], scored: Callable[[Piece, Scored], None]) -> Part:
    """Learn the events of a shard, in order; the model is then as before, and what was learned is in the part.

    n_known : the number of labels before the round; those that other shards bring are unknown to this one.
    scored : called with each piece once it is learned.
    """
    features = [piece.own_features() for piece in pieces]
    learned = [_labelled(own, piece) for own, piece in zip(features, pieces, strict=True)]
    before = Before(model, n_known, {view: [own[view] for own in learned] for view in model.rows})
    common, model.labels = model.labels, LabelIndex(model.labels.names[:n_known])
    try:
        for piece, own in zip(pieces, features, strict=True):
            scored(piece, score_then_learn(model, piece, own))
        return before.take_back(model.labels.names)
    finally:
        model.labels = common


def _labelled(features: Mapping[str, Buckets], piece: Piece) -> Mapping[str, Buckets]:
    """The features of events that have a label."""
    labelled = ~without_label(piece.labels)
    if labelled.all():
        return features
    return {view: found.take(np.flatnonzero(labelled)) for view, found in features.items()}


def score_then_learn(model: Model, piece: Piece, features: Mapping[str, Buckets]) -> Scored:
    batch, events = piece.batch, piece.events
    goals = learn_labels(model.labels, piece.labels, batch.weights[events])
    learned = goals.codes >= 0
    examples = {view: index.examples(features[view], learned) for view, index in model.rows.items()}
    model.name_features((batch, batch[:0]), events, dict.fromkeys(examples, learned), examples)
    inputs = Inputs(features, list)
    scores = model.score_then_learn(examples, goals, goals, inputs, partial(place_of, piece), None)
    counted = FeatureCounts(list(model.views), events.size)
    counted.update(examples, batch.weights[events])
    return Scored(goals, scores, counted, model.labels.names)


def place_of(piece: Piece, event: int) -> str:
    """The name of the place of one of its events."""
    return piece.batch.place(int(piece.events[event]))
