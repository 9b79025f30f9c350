"""Mixing: the parts of all shards become one model.

Labels, rows and changes are taken in the order of the shards, whoever learned them and whenever they arrive, so that
every copy of the model numbers labels and rows alike and adds in the same order.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from streamlin.learners.mixing import Change
from streamlin.model import Model
from streamlin.sharding.parts import Difference, Part


class Mixing:
    """Mixes the parts of all shards, in their order, into the model from which they began.

    First the model gets their labels and rows; with `add` their changes, before it is used again.

    n_known : the number of labels before the round, which those of every shard follow.
    """

    def __init__(self, model: Model, n_known: int, parts: Sequence[Part]) -> None:
        self._model, self._parts = model, parts
        self._rows_before = {name: model.n_rows(name) for name in model.learners}
        self._columns = [columns_of(model, n_known, part) for part in parts]
        self._brought = [{view: model.rows[view].bring(new) for view, new in part.buckets.items()} for part in parts]
        for joint in model.joint_rows.values():
            joint.take_in()

    def add(self) -> None:
        """Add what the shards have changed."""
        model, n_labels = self._model, len(self._model.labels)
        for name, learner in model.learners.items():
            begin = self._rows_before[name]
            changes = [
                _change(part.differences[name], codes, begin, _brought(model, name, part, own, begin))
                for part, codes, own in zip(self._parts, self._columns, self._brought, strict=True)
            ]
            learner.grow(model.n_rows(name), n_labels)
            learner.mix([change for change in changes if not change.is_empty])
        for name, mixture in model.mixtures.items():
            none, given = np.zeros(0, np.int32), zip(self._parts, self._columns, strict=True)
            changes = [_change(part.differences[name], codes, 0, none) for part, codes in given]
            mixture.grow(n_labels)
            mixture.mix([change for change in changes if not change.is_empty])


def mix(model: Model, n_known: int, parts: Sequence[Part]) -> None:
    """Mix the parts of all shards; see `Mixing`."""
    Mixing(model, n_known, parts).add()


def columns_of(model: Model, n_known: int, part: Part) -> NDArray[np.int32]:
    """int32[k]: the code of each of a shard's labels in the model, which learns those that are new."""
    return np.concatenate([np.arange(n_known, dtype=np.int32), model.labels.learn(part.labels)])


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


def _change(own: Difference, columns: NDArray[np.int32], n_rows: int, brought: NDArray[np.int32]) -> Change:
    """A difference with the rows and columns of the model; the shard's rows from `n_rows` on are those brought."""
    rows = own.rows
    if brought.size:
        rows = rows.copy()
        new = rows >= n_rows
        rows[new] = brought[rows[new] - n_rows]
    return Change(rows, columns, own.tables, own.numbers)
