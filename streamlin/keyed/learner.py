"""A learner's tables for all keys."""

import math
from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import CheckpointError, ConfigError
from streamlin.kernel import kernel
from streamlin.learners import Learner
from streamlin.learners.by_key import ByNumber, ByRow, BySlot, KeyedEvents
from streamlin.learners.tables import grown
from streamlin.storage.arrays import Expected, expected

_AMPLE, _LARGE, _RESERVED = 8, 1 << 23, 1 << 28
"""A table that outgrows its room gets this many times what it needs; a large one, in bytes, at least those reserved."""
_BLOCK = 16
"""Blocks have room for a multiple of so many rows, and begin at one."""
_WORD = 8
"""The bytes of a word, by which rows are moved."""
_WRAPPERS = (ByNumber, BySlot, ByRow)
"""By the dimensions that a table of one learner has."""


class KeyedLearner:
    """One learner for each key, in common tables; see `streamlin.learners.by_key`.

    A table [rows, labels] of the learner has the rows of all keys, one of [labels] is [slots, labels] here, and a
    number is [slots].

    learner : a new learner; its parameters are those of all keys.

    Raises
    ------
    ConfigError : its kernel is not made for keys.
    """

    def __init__(self, name: str, learner: Learner) -> None:
        kernels = learner.kernels_in_use()
        if kernels is None or kernels.learn_keyed is None:
            raise ConfigError(f"learners.{name}: can't learn a model per key; leave it out, or leave out keys.per")
        self.learner, self._learn = learner, kernels.learn_keyed
        self._dimensions = {table: getattr(learner, table).ndim for table in learner.tables}
        self.tables: dict[str, NDArray[Any]] = {
            table: np.zeros(shape, getattr(learner, table).dtype) for table, shape in self._shapes(0, 0, 0).items()
        }
        self._rows = self._slots = 0

    def grow(self, rows: int, slots: int, labels: int) -> None:
        """Make room; for rows much more than is needed, since a larger table takes long to copy.

        The system provides the memory once it is written to.
        """
        for table, shape in self._shapes(rows, slots, labels).items():
            of_rows, old = self._dimensions[table] == 2, self.tables[table]
            wanted = (self._ample(table, shape), shape[1]) if of_rows and shape[0] > len(old) else shape
            self.tables[table] = grown(old, wanted, self._rows if of_rows else self._slots)
        self._rows, self._slots = max(self._rows, rows), max(self._slots, slots)

    def _ample(self, table: str, shape: tuple[int, ...]) -> int:
        """The rows for which a table of this shape makes room."""
        rows, row_bytes = _AMPLE * shape[0], shape[1] * self.tables[table].itemsize
        return rows if rows * row_bytes < _LARGE else max(rows, _RESERVED // (_BLOCK * row_bytes) * _BLOCK)

    def move(self, moves: NDArray[np.int64]) -> None:
        """Move blocks of rows, and clear where they were; see `KeyRows`."""
        if len(moves):
            for table in self._of_rows():
                move_rows(moves, table.strides[0], table.reshape(-1).view(np.uint64))

    def clear(self, blocks: NDArray[np.int64], slots: NDArray[np.int32]) -> None:
        """Set what was learned to zero: blocks int64[m, 2], where each begins and its rows in use; slots of keys."""
        for table in self._of_rows():
            clear_rows(blocks, table.shape[1], table.reshape(-1))
        for name, table in self.tables.items():
            if self._dimensions[name] < 2:
                table[slots] = 0

    def score_then_learn(self, events: KeyedEvents, scores: NDArray[np.float64]) -> None:
        """Set scores float64[n, labels], by the labels of each event's key, and learn; see `Learner`."""
        self._learn(events, self._arguments(), scores)

    def of_key(self, slot: int, begin: int, rows: int, labels: int) -> Learner:
        """A copy of the learner of one key, as a run of its events alone would have made it.

        slot, begin, rows, labels : of the key; the number of its rows and labels, and where its rows begin.
        """
        alone, shapes = copy(self.learner), self._shapes(rows, 1, labels)
        own: dict[str, NDArray[Any]] = {}
        for name, table in self.tables.items():
            place: Any = slice(begin, begin + rows) if self._dimensions[name] == 2 else slot
            own[name] = np.array(table[(place, *map(slice, shapes[name][1:]))])
        alone.restore(own)
        return alone

    def row_bytes(self, labels: int) -> int:
        """The size of one row of all tables."""
        return self._size(self._shapes(1, 0, labels))

    def slot_bytes(self, labels: int) -> int:
        """The size of what a key has besides its rows."""
        return self._size(self._shapes(0, 1, labels))

    def state(self, rows: NDArray[np.int64], slots: NDArray[np.int32], labels: int) -> dict[str, NDArray[Any]]:
        """Copies of the tables of some keys, given their rows and slots, cut to so many labels."""
        shapes = self._shapes(rows.size, slots.size, labels)
        return {
            name: table[(rows if self._dimensions[name] == 2 else slots, *map(slice, shapes[name][1:]))]
            for name, table in self.tables.items()
        }

    def expected(self, rows: int, keys: int) -> dict[str, Expected]:
        """What the tables of a `state` of so many rows and keys must be; the number of labels is left open."""
        shapes = self._shapes(rows, keys, -1)
        return {
            name: expected(table.dtype, *(None if size < 0 else size for size in shapes[name]))
            for name, table in self.tables.items()
        }

    def restore(self, state: Mapping[str, NDArray[Any]], rows: NDArray[np.int64], labels: int) -> None:
        """Take over a `state`, whose keys have the slots 0, 1, …; rows : where its rows belong.

        Raises
        ------
        CheckpointError : a table has not so many labels.
        """
        for name, table in self.tables.items():
            of_rows = self._dimensions[name] == 2
            shapes = self._shapes(rows.size, len(state[name]), labels)
            if state[name].shape != shapes[name]:
                raise CheckpointError(f"the checkpoint's table {name} of keys is not of {labels} labels")
            places = rows if of_rows else slice(len(state[name]))
            table[(places, *map(slice, shapes[name][1:]))] = state[name]

    def _arguments(self) -> tuple[Any, ...]:
        """Those of the learner's kernels, with the tables of all keys in place of its own."""
        ours = {id(getattr(self.learner, name)): name for name in self.tables}
        return tuple(
            argument
            if (name := ours.get(id(argument))) is None
            else _WRAPPERS[self._dimensions[name]](self.tables[name])
            for argument in self.learner.arguments()
        )

    def _of_rows(self) -> Iterator[NDArray[Any]]:
        return (table for name, table in self.tables.items() if self._dimensions[name] == 2)

    def _shapes(self, rows: int, slots: int, labels: int) -> dict[str, tuple[int, ...]]:
        """The shape of each table for so many rows, slots and labels."""
        shapes: dict[str, tuple[int, ...]] = {}
        for name, dimensions in self._dimensions.items():
            columns = 1 if name in self.learner.shared else labels
            shapes[name] = (rows, columns) if dimensions == 2 else (slots, columns)[: 1 + dimensions]
        return shapes

    def _size(self, shapes: Mapping[str, tuple[int, ...]]) -> int:
        return sum(math.prod(shape) * self.tables[name].itemsize for name, shape in shapes.items())


@kernel
def move_rows(moves: NDArray[np.int64], row_bytes: int, table: NDArray[np.uint64]) -> None:
    """Move rows of a table, given as words of 8 bytes, and clear where they were.

    moves : int64[m, 4], of which the first columns are where rows are, how many, and where they go. Blocks are of whole
    words, so up to one word behind the rows is moved, too; no row is there yet. Indices are unsigned, so that several
    words are moved at once; to ask for the rows of the next block beforehand would take longer than it saves.
    """
    for block in range(moves.shape[0]):
        source = np.uint64(row_bytes * moves[block, 0] // _WORD)
        target = np.uint64(row_bytes * moves[block, 2] // _WORD)
        words = np.uint64(-(-row_bytes * moves[block, 1] // _WORD))
        for word in range(words):
            table[target + word] = table[source + word]
        for word in range(words):
            table[source + word] = 0


@kernel
def clear_rows(blocks: NDArray[np.int64], columns: int, table: NDArray[Any]) -> None:
    """Set rows of such a table to zero: blocks int64[m, 2], where they begin and how many."""
    for block in range(blocks.shape[0]):
        first = columns * blocks[block, 0]
        for cell in range(first, first + columns * blocks[block, 1]):
            table[cell] = 0
