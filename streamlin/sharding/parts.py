"""What a shard brings to the end of a round: its new labels and rows, and what it has changed of each learner.

A shard learns on the model's own tables. What it may change is copied before; the difference is taken afterwards, and
the tables are put back, so that the next shard begins from the same ones.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from streamlin.features import Buckets
from streamlin.features.rows import RowIndex
from streamlin.learners import Learner
from streamlin.learners.tables import Array
from streamlin.model import Model
from streamlin.sharding.kernels import copy_rows, mark_rows, places_of, take_back_rows


class Difference(NamedTuple):
    """What a shard has changed of one learner, with rows and labels numbered as the shard does.

    rows : int32[m], in ascending order. tables : by name, [m, k]. numbers : by name, [k] or [].
    """

    rows: NDArray[np.int32]
    tables: Mapping[str, Array]
    numbers: Mapping[str, Array]


class New(NamedTuple):
    """What a shard saw first, in order.

    labels : their codes follow those known before the round.
    buckets : by view, int32[n], those that it gave rows; these follow those of before.
    """

    labels: list[str]
    buckets: Mapping[str, NDArray[np.int32]]


class Part(NamedTuple):
    """What a shard brings.

    joint : by learner of several views, int32[n] for each of them, the learner's rows of the new buckets.
    differences : by learner.
    """

    new: New
    joint: Mapping[str, list[NDArray[np.int32]]]
    differences: Mapping[str, Difference]


class _Tables(Protocol):
    @property
    def tables(self) -> tuple[str, ...]: ...


class Before:
    """The state of a model before a shard's round, as far as the shard may change it.

    n_labels : the number of labels that it knows. features : by view, those of all labelled events of the shard.
    """

    def __init__(self, model: Model, n_labels: int, features: Mapping[str, Iterable[Buckets]]) -> None:
        self._model, self.n_labels = model, n_labels
        self.n_rows = {view: len(index) for view, index in model.rows.items()}
        self._rows = {view: touched(index, features[view]) for view, index in model.rows.items()}
        self._sizes = {name: [rows.size for rows in joint.rows] for name, joint in model.joint_rows.items()}
        self._begins = {name: model.n_rows(name) for name in model.learners}
        self._learners: dict[str, _Copy] = {}
        for name, learner in model.learners.items():
            learner.grow(self._begins[name], self.n_labels)
            most = sum(self._rows[view].new for view in model.views_of[name])
            self._learners[name] = _Copy(learner, self._rows_of(name), self.n_labels, most)
        for name, mixture in model.mixtures.items():
            mixture.grow(self.n_labels)
            self._learners[name] = _Copy(mixture, np.zeros(0, np.int32), self.n_labels)

    def take_back(self, labels: list[str]) -> Part:
        """What was changed since; the model is then as before. labels : all that are known by now."""
        model, n_labels = self._model, len(labels)
        buckets = {view: index.buckets[self.n_rows[view] :].copy() for view, index in model.rows.items()}
        differences, rows_of = {}, dict[tuple[str, ...], NDArray[np.int32]]()
        for name, learner in model.learners.items():
            begin, end = self._begins[name], model.n_rows(name)
            learner.grow(end, n_labels)
            views = model.views_of[name]
            if views not in rows_of:
                rows_of[views] = np.concatenate([self._learners[name].rows, np.arange(begin, end, dtype=np.int32)])
            differences[name] = self._learners[name].take_back(n_labels, rows_of[views])
        for name, mixture in model.mixtures.items():
            mixture.grow(n_labels)
            differences[name] = self._learners[name].take_back(n_labels, np.zeros(0, np.int32))
        joint = {}
        for name, rows in model.joint_rows.items():
            sizes = self._sizes[name]
            joint[name] = [own[size:].copy() for own, size in zip(rows.rows, sizes, strict=True)]
            rows.forget(sizes)
        for view, index in model.rows.items():
            index.forget(self.n_rows[view])
        return Part(New(labels[self.n_labels :], buckets), joint, differences)

    def _rows_of(self, name: str) -> NDArray[np.int32]:
        """The rows of a learner that may change, in ascending order."""
        own = [self._rows[view].known for view in self._model.views_of[name]]
        if name not in self._model.joint_rows:
            return own[0]
        joint = self._model.joint_rows[name].rows
        return np.sort(np.concatenate([of_view[rows] for of_view, rows in zip(joint, own, strict=True)]))


class _Copy:
    """A copy of some rows of a learner's tables, and of everything that is not by row.

    A mixture has no rows: all of its tables are among the latter. most : rows that the learner may get, for which room
    is left behind the others: differences take the place of copies, which is memory that is at hand.
    """

    def __init__(self, learner: _Tables, rows: NDArray[np.int32], n_labels: int, most: int = 0) -> None:
        self._learner, self.rows = learner, rows
        by_row = [name for name in learner.tables if isinstance(learner, Learner) and getattr(learner, name).ndim == 2]
        self._tables = {name: _copied(getattr(learner, name), rows, n_labels, most) for name in by_row}
        self._numbers = {name: np.array(getattr(learner, name)) for name in learner.tables if name not in by_row}

    def take_back(self, n_labels: int, rows: NDArray[np.int32]) -> Difference:
        """The difference to the copy, which is put back and is then gone.

        rows : those of the copy, then those that are new.
        """
        tables, changed = {}, np.zeros(rows.size, np.bool_)
        for name, before in self._tables.items():
            table = getattr(self._learner, name)
            width = 1 if isinstance(self._learner, Learner) and name in self._learner.shared else n_labels
            fits = width == before.shape[1] and rows.size <= len(before)
            tables[name] = before[: rows.size] if fits else np.empty((rows.size, width), table.dtype)
            take_back_rows(table, rows, before[: self.rows.size], tables[name], changed)
        if not changed.all():
            kept = places_of(changed)
            for table in tables.values():
                copy_rows(table, kept, table)
            rows, tables = rows[kept], {name: table[: kept.size] for name, table in tables.items()}
        return Difference(rows, tables, self._numbers_back(n_labels))

    def _numbers_back(self, n_labels: int) -> dict[str, Array]:
        differences = {}
        for name, before in self._numbers.items():
            number = getattr(self._learner, name)
            difference = number.copy()
            if number.ndim:
                difference[: len(before)] -= before
                number[: len(before)], number[len(before) :] = before, 0
            else:
                difference -= before
                number[()] = before
            by_label = isinstance(self._learner, Learner) and number.ndim
            differences[name] = difference[:n_labels] if by_label or name == "label_weights" else difference
        return differences


def _copied(table: Array, rows: NDArray[np.int32], n_labels: int, most: int) -> Array:
    """The rows of a table, with the columns in use, and room for the most that may follow."""
    copies = np.empty((rows.size + most, min(n_labels, table.shape[1])), table.dtype)
    copy_rows(table, rows, copies)
    return copies


class Touched(NamedTuple):
    """Rows that some features have.

    known : int32[m], each once, in ascending order. new : how many they may get at the most.
    """

    known: NDArray[np.int32]
    new: int


def touched(index: RowIndex, features: Iterable[Buckets]) -> Touched:
    """The rows of some features."""
    marks, new = np.zeros(len(index), np.bool_), 0
    for own in features:
        new += mark_rows(index.row_of, own.buckets, marks)
    return Touched(places_of(marks), new)
