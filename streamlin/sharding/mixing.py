"""Mixing: the parts of all shards become one model.

Labels, rows and changes are taken in the order of the shards, whoever learned them and whenever they arrive, so that
every copy of the model numbers labels and rows alike and adds in the same order.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.learners.mixing import Change
from streamlin.model import Model
from streamlin.sharding.parts import New, Part


class Numbers(NamedTuple):
    """What of the model a shard's labels and new rows are.

    columns : int32[k], the code of each of its labels. rows : by view, int32[n], the rows of its new buckets.
    """

    columns: NDArray[np.int32]
    rows: Mapping[str, NDArray[np.int32]]


def take_in(model: Model, n_known: int, new: Sequence[New]) -> list[Numbers]:
    """Give the model the labels and rows of all shards, in their order; what they have changed can be added later.

    n_known : the number of labels before the round, which those of every shard follow.
    """
    columns = [columns_of(model, n_known, own) for own in new]
    rows = [{view: model.rows[view].bring(buckets) for view, buckets in own.buckets.items()} for own in new]
    for joint in model.joint_rows.values():
        joint.take_in()
    return [Numbers(*own) for own in zip(columns, rows, strict=True)]


def mix(model: Model, n_known: int, parts: Sequence[Part]) -> None:
    """Mix the parts of all shards, in their order, into the model from which they began. n_known : see `take_in`."""
    rows_before = {name: model.n_rows(name) for name in model.learners}
    numbers = take_in(model, n_known, [part.new for part in parts])
    n_labels = len(model.labels)
    known: list[dict[int, tuple[NDArray[np.int32], int]]] = [{} for _ in parts]
    for name, learner in model.learners.items():
        begin = rows_before[name]
        changes = []
        for part, own, of_model in zip(parts, numbers, known, strict=True):
            difference = part.differences[name]
            if id(difference.rows) not in of_model:  # learners that have changed all rows share them
                brought = _brought(model, name, part, own.rows, begin)
                of_model[id(difference.rows)] = _in_model(difference.rows, begin, brought)
            rows, ascending = of_model[id(difference.rows)]
            changes.append(Change(rows, own.columns, difference.tables, difference.numbers, ascending))
        learner.grow(model.n_rows(name), n_labels)
        learner.mix([change for change in changes if not change.is_empty])
    for name, mixture in model.mixtures.items():
        given = ((part.differences[name], own.columns) for part, own in zip(parts, numbers, strict=True))
        changes = [Change(own.rows, columns, own.tables, own.numbers) for own, columns in given]
        mixture.grow(n_labels)
        mixture.mix([change for change in changes if not change.is_empty])


def columns_of(model: Model, n_known: int, new: New) -> NDArray[np.int32]:
    """int32[k]: the code of each of a shard's labels in the model, which learns those that are new."""
    return np.concatenate([np.arange(n_known, dtype=np.int32), model.labels.learn(new.labels)])


def _brought(
    model: Model, name: str, part: Part, brought: Mapping[str, NDArray[np.int32]], begin: int
) -> NDArray[np.int32]:
    """int32[n]: the learner's rows of those that a shard has given its own from `begin` on, in the order of these.

    brought : by view, the rows of the shard's new buckets.
    """
    views = model.views_of[name]
    if name not in model.joint_rows:
        return brought[views[0]]
    joint = model.joint_rows[name].rows
    rows = np.empty(sum(own.size for own in part.joint[name]), np.int32)
    for own, of_view, view in zip(part.joint[name], joint, views, strict=True):
        rows[own - begin] = of_view[brought[view]]
    return rows


def _in_model(rows: NDArray[np.int32], begin: int, brought: NDArray[np.int32]) -> tuple[NDArray[np.int32], int]:
    """Rows as the model has them, and how many of them it had before. begin, brought : see `_brought`."""
    old = int(np.searchsorted(rows, np.int32(begin)))  # in ascending order
    if old == rows.size:
        return rows, old
    return np.concatenate([rows[:old], brought[rows[old:] - begin]]), old
