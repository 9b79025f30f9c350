"""Whether a round of shards can be learned within the limits of labels and tables."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import ConfigError
from streamlin.events import Batch
from streamlin.learners.targets import without_label
from streamlin.model import Model
from streamlin.running.admission import Admission
from streamlin.sharding.rounds import Round
from streamlin.streams.reader import Portion


class RoundLimits:
    """The limits of a model that shards learn; none of a round is learned if all of it can't be.

    admission : the limits. label_rule : see `streamlin.running.within_limits.WithinLimits`.
    """

    def __init__(self, model: Model, admission: Admission, label_rule: Callable[[str], str]) -> None:
        self._model, self._admission, self._label_rule = model, admission, label_rule

    def check(self, one: Round) -> None:
        """Raise ConfigError if a round can't be learned. The message names the key, and an event or the round."""
        new: set[str] = set()
        for portion in one.portions:
            for event, label in self._new_labels(portion.batch):
                new.add(label)
                if len(self._model.labels) + len(new) > self._admission.max_labels:
                    where, rule = portion.batch.place(event), self._label_rule(portion.source)
                    raise ConfigError(self._admission.too_many_labels(label, where, rule))
        n_labels = len(self._model.labels) + len(new)
        if not self._admission.fits_any_text(n_labels):
            self._check_rows(one, n_labels)

    def _new_labels(self, batch: Batch) -> Iterator[tuple[int, str]]:
        for event, label in enumerate(batch.labels):
            if label is not None and self._model.labels.code(label) < 0 and batch.weights[event] > 0:
                yield event, label

    def _check_rows(self, one: Round, n_labels: int) -> None:
        portions = [self._learned(portion) for portion in one.portions]
        rows = {
            view: len(index) + index.count_new(np.concatenate([learned[view] for learned in portions]))
            for view, index in self._model.rows.items()
        }
        if self._admission.table_bytes(rows, n_labels) > self._admission.max_bytes:
            first = next(portion.batch for portion in one.portions if len(portion.batch))
            raise ConfigError(self._admission.too_large(rows, n_labels, f"in the round from {first.place(0)} on, "))

    def _learned(self, portion: Portion) -> dict[str, NDArray[np.int32]]:
        """By view, the buckets of a portion's events that have labels; workers find features later."""
        labelled = np.flatnonzero(~without_label(portion.batch.labels))
        features = portion.features or self._model.featurize(portion.batch)
        return {view: features[view].take(labelled).buckets for view in self._model.rows}
