"""Whether events can be learned within the limits of labels and tables; asked before anything is learned.

Every label is a column and every feature a row of every learner's table, so a field that is an id, taken for the label,
or a text of half a million words would exhaust memory.
"""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from streamlin.config import RunConfig
from streamlin.config.features import WITH_UNLABELLED
from streamlin.config.memory import memory_for_tables
from streamlin.delayed_labels.plan import old_texts
from streamlin.delayed_labels.waiting import Due, WaitingText
from streamlin.errors import ConfigError
from streamlin.events import Batch
from streamlin.features import Buckets
from streamlin.learners.targets import without_label
from streamlin.model import Features, Model
from streamlin.running.keyed_tables import bytes_after, most_bytes, most_labels


class Admission:
    """The limits of a model.

    Parameters
    ----------
    model : what learns; it is only read.
    config : `pipeline.max_labels` and `pipeline.max_table_bytes`.

    Attributes
    ----------
    max_labels, max_bytes : the limits; those of bytes by default a third of the memory that the process may use.
    """

    def __init__(self, model: Model, config: RunConfig) -> None:
        self._model, self._label_field = model, config.fields.label
        self._unlimited = -1
        """The largest number of labels for which `fits_any_text` was true; it is asked for every batch."""
        self.max_labels = config.pipeline.max_labels
        self.max_bytes = config.pipeline.max_table_bytes or memory_for_tables()
        rows, n_labels = {view: len(index) for view, index in model.rows.items()}, len(model.labels)
        if config.priors.labels and not model.prequential.events and self.table_bytes(rows, n_labels) > self.max_bytes:
            raise ConfigError(self.too_large(rows, n_labels, "for the words of [priors] "))

    def fits(self, batch: Batch, features: Features) -> bool:
        """Whether all of a batch can be learned; False also where only `check`, event by event, can tell."""
        model, n_labels = self._model, len(self._model.labels)
        new = self._new(batch)
        if new and n_labels + len(new) > self.max_labels:
            return False
        if self.fits_any_text(n_labels + len(new), self._most_of_keys(batch, features, n_labels + len(new))):
            return True
        waiting: list[WaitingText] = []
        if model.delayed_labels is not None and model.learns_unlabelled:
            return False  # which texts the batch lets go is known event by event
        own: Mapping[str, Buckets] = features
        if model.delayed_labels is not None:
            waiting = model.delayed_labels.texts_due(batch)
        elif None in batch.labels and not model.learns_unlabelled:
            labelled = np.flatnonzero(~without_label(batch.labels))
            own = {view: found.take(labelled) for view, found in features.items()}
        old = model.featurize(old_texts(waiting, model.further_fields, batch)) if waiting else {}
        new_rows = len(batch) if model.has_template_features else 0
        rows = {
            view: len(index) + index.count_new(_buckets(own, old, view)) + new_rows
            for view, index in model.rows.items()
        }
        of_keys = self._most_of_keys(batch, features, n_labels + len(new), exactly=True)
        return self.table_bytes(rows, n_labels + len(new), of_keys) <= self.max_bytes

    def check(self, event: Batch, features: Features, label_rule: str = "") -> None:
        """Raise ConfigError if a batch of one event can't be learned. The message names the key and the event.

        Texts that the event lets go, because no label reached them, are counted with the next event.

        label_rule : what a label is, where `fields.label` does not name it.
        """
        due = self._due(event)
        if due is None or not due.weight > 0:
            return
        model, n_labels = self._model, len(self._model.labels)
        if due.label is not None and model.labels.code(due.label) < 0:
            n_labels += 1
            if n_labels > self.max_labels:
                raise ConfigError(self.too_many_labels(due.label, event.place(0), label_rule))
        if due.text is not None:
            features = model.featurize(old_texts([due.text], model.further_fields, event))
        rows = {
            view: len(index)
            + (
                index.count_new(features[view].buckets, one_event=True) + model.has_template_features
                if _is_learned(view, due)
                else 0
            )
            for view, index in model.rows.items()
        }
        of_keys = 0
        if model.keys is not None and due.label is not None:
            given = event if due.text is None else old_texts([due.text], model.further_fields, event)
            of_keys = bytes_after(model.keys, given, model.labels.code(due.label), features)
        if self.table_bytes(rows, n_labels, of_keys) > self.max_bytes:
            raise ConfigError(self.too_large(rows, n_labels, f"at {event.place(0)} "))

    def fits_any_text(self, n_labels: int, of_keys: int = 0) -> bool:
        """Whether the tables would fit with so many labels even if every bucket had its row.

        of_keys : see `table_bytes`.
        """
        if of_keys:
            return self.table_bytes({}, n_labels, of_keys) <= self.max_bytes
        if n_labels > self._unlimited and self.table_bytes({}, n_labels) <= self.max_bytes:
            self._unlimited = n_labels
        return n_labels <= self._unlimited

    def table_bytes(self, rows: Mapping[str, int], n_labels: int, of_keys: int = 0) -> int:
        """The size of all learners' tables for so many rows, by view, and labels; all buckets of a view not named.

        of_keys : the size of the tables of models per key.
        """
        model = self._model
        every = {view: rows.get(view, 1 << index.bits) for view, index in model.rows.items()}
        tables = model.learners.items()
        own = {name: sum(every[view] for view in model.views_of[name]) for name in model.learners}
        return of_keys + sum(learner.table_bytes(own[name], n_labels) for name, learner in tables)

    def new_rows(self, features: Features) -> dict[str, int]:
        """How many rows the features bring to each view."""
        own = self._model.has_template_features  # at most one for each text
        return {
            view: self._model.rows[view].count_new(found.buckets) + own * (found.indptr.size - 1)
            for view, found in features.items()
        }

    def most_rows(self, characters: int, pieces: int) -> dict[str, int]:
        """How many rows so many texts, or parts of texts, may bring to each view, with so many characters in all."""
        own = pieces * self._model.has_template_features
        return {name: view.most_features(characters, pieces) + own for name, view in self._model.views.items()}

    def most_of_keys(self, size: int, pieces: int, n_labels: int) -> int:
        """An upper bound of the size of models per key, with so many more texts, or parts of texts; see `most_rows`."""
        keys = self._model.keys
        if keys is None:
            return 0
        return most_bytes(keys, self.most_rows(size, pieces), pieces, min(n_labels, keys.labels.width + pieces))

    def _most_of_keys(self, batch: Batch, features: Features, n_labels: int, exactly: bool = False) -> int:
        """The same, once a batch is learned. exactly : as far as that is known before, which takes longer."""
        model, keys = self._model, self._model.keys
        if keys is None:
            return 0
        waiting = [] if model.delayed_labels is None else model.delayed_labels.texts_due(batch)
        old = old_texts(waiting, model.further_fields, batch)
        more = self.most_rows(sum(map(len, old.texts)), len(old.texts))
        entries = {view: found.buckets.size + more[view] for view, found in features.items()}
        if exactly:
            n_labels = min(n_labels, most_labels(keys, [*batch.extra[keys.field], *old.extra[keys.field]]))
        return most_bytes(keys, entries, len(batch) + len(old), n_labels)

    def too_many_labels(self, label: str, where: str, label_rule: str = "") -> str:
        """The message about a label beyond the limit; see `check`."""
        named = f"if fields.label = '{self._label_field}' is the label"
        return (
            f"pipeline.max_labels: found more than {self.max_labels:,} labels, {label!r:.60} at {where} is one too "
            f"many; {f'{label_rule}; if these are labels' if label_rule else named}, raise the limit"
        )

    def too_large(self, rows: Mapping[str, int], n_labels: int, where: str = "") -> str:
        """The message about tables beyond the limit."""
        size = " and ".join(f"{count:,} features of view {view}" for view, count in rows.items())
        return (
            f"pipeline.max_table_bytes: {where}the learners' tables need more than {self.max_bytes:,} bytes, for "
            f"{n_labels:,} labels and {size}; use fewer labels, learners or n-grams, or raise the limit"
        )

    def _new(self, batch: Batch) -> set[str]:
        """The labels that the batch may bring."""
        code, delayed = self._model.labels.code, self._model.delayed_labels
        if delayed is not None:
            return {label for label in delayed.labels_due(batch) if code(label) < 0}
        new = {label for label in set(batch.labels) if label is not None and code(label) < 0}
        if len(self._model.labels) + len(new) > self.max_labels:  # rare: only now look for weights of 0
            new &= {label for label, weight in zip(batch.labels, batch.weights, strict=True) if weight > 0}
        return new

    def _due(self, event: Batch) -> Due | None:
        """What is learned when the event arrives."""
        if self._model.delayed_labels is not None:
            return self._model.delayed_labels.due(event)
        label = event.labels[0]
        learned = label is not None or self._model.learns_unlabelled
        return Due(None, label, float(event.weights[0])) if learned else None


def _is_learned(view: str, due: Due) -> bool:
    """Whether what is due brings rows to a view."""
    return due.label is not None or view.endswith(WITH_UNLABELLED)


def _buckets(features: Mapping[str, Buckets], old: Mapping[str, Buckets], view: str) -> NDArray[np.int32]:
    """The buckets of a batch and of the earlier texts that are learned with it."""
    own = features[view].buckets
    return np.concatenate([own, old[view].buckets]) if view in old else own


def new_admission(model: Model, config: RunConfig) -> Admission:
    """The limits of a model of texts, or of sentences, which has the same interface."""
    if config.task == "classification":
        return Admission(model, config)
    if config.task == "parsing":
        from streamlin.parsing.admission import TreeAdmission

        return cast(Admission, TreeAdmission(cast(Any, model), config))
    if config.task == "topics":
        from streamlin.topics.admission import TopicAdmission

        return cast(Admission, TopicAdmission(cast(Any, model), config))
    from streamlin.tagging.admission import TagAdmission

    return cast(Admission, TagAdmission(cast(Any, model), config))
