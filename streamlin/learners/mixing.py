"""What shards have changed of a learner, and the ways to mix it into one table.

Several shards learn from the same tables, each for itself; every learner's `mix` then adds their changes, in the order
of the shards. All shards' changes of one row are weighed against each other, and none against what a shard did not see.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.learners.tables import Array

FIRST = np.zeros(1, np.int32)
"""The row, or the column, of a table that has only one."""
_SIZES, _NONE = "sizes", np.zeros((0, 0))
_CELLS = 1 << 16
"""Changed cells of all shards in a block."""
_ROWS = 256
"""Rows of which `add` does one column after the other: few labels would make too short a loop of each row."""


class Change(NamedTuple):
    """What one shard has changed of one learner: differences, each from before to after.

    rows : int32[m], the rows that it has changed, each once. columns : int32[k], the codes of its labels.
    tables : by name, [m, k], or [m, 1] for one that labels share. numbers : by name, [k], or [] for a single number.
    ascending : so many of the rows come first, in ascending order; all others are above those of all shards.
    """

    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    tables: Mapping[str, Array]
    numbers: Mapping[str, Array]
    ascending: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing has changed."""
        return not self.rows.size and not any(number.any() for number in self.numbers.values())


class Block(NamedTuple):
    """What shards have changed of the rows from `first` to `end`: few enough to stay in the processor's cache."""

    first: int
    end: int
    changes: list[Change]


def blocks_of(changes: Sequence[Change], width: int) -> Iterator[Block]:
    """The changes of tables with so many columns, block by block; numbers are not among them."""
    longest = max(changes, key=lambda one: one.ascending, default=None)
    if longest is None:
        return
    n_blocks = 1 + width * sum(one.ascending for one in changes) // _CELLS
    edges = longest.rows[: longest.ascending][:: longest.ascending // n_blocks + 1]
    above = max(int(one.rows[one.ascending - 1]) + 1 if one.ascending else 0 for one in changes)
    end = max(int(one.rows.max(initial=-1)) + 1 for one in changes)
    bounds = [0, *edges[1:].tolist(), above, end]
    places = [[0, *_places(one, edges[1:]), one.ascending, one.rows.size] for one in changes]
    for number, (first, last) in enumerate(pairwise(bounds)):
        cut = [_cut(one, *own[number : number + 2]) for one, own in zip(changes, places, strict=True)]
        if own := [one for one in cut if one.rows.size]:
            yield Block(first, last, own)


def _places(change: Change, edges: NDArray[np.int32]) -> list[int]:
    """Where a change reaches rows, in their ascending part."""
    places: list[int] = np.searchsorted(change.rows[: change.ascending], edges).tolist()
    return places


def _cut(change: Change, begin: int, end: int) -> Change:
    tables = {name: table[begin:end] for name, table in change.tables.items()}
    return Change(change.rows[begin:end], change.columns, tables, change.numbers)


def columns_of(change: Change, table: Array) -> NDArray[np.int32]:
    """The columns of a table that a change is of; labels may share one."""
    return FIRST if table.shape[-1] == 1 else change.columns


def of_one_row(changes: Sequence[Change], names: Sequence[str]) -> list[Change]:
    """Changes of values by label, or of single numbers, as those of tables that have one row."""
    return [
        Change(FIRST, one.columns, {name: one.numbers[name].reshape(1, -1) for name in names}, one.numbers)
        for one in changes
        if any(one.numbers[name].any() for name in names)
    ]


def add_sums(table: Array, changes: Sequence[Change], name: str) -> None:
    """Add all changes of a table."""
    for block in blocks_of(changes, table.shape[1]):
        for change in block.changes:
            add(table, change.rows, columns_of(change, table), change.tables[name])


def add_means(table: Array, changes: Sequence[Change], name: str) -> None:
    """Add to each row the mean of its changes, over the shards that have changed it."""
    for block in blocks_of(changes, table.shape[1]):
        add_means_of(table, block, name, sharers_of(block))


def add_means_of(table: Array, block: Block, name: str, sharers: NDArray[np.int32]) -> None:
    """`add_means` for a block, with the sharers of its rows."""
    for change in block.changes:
        add_shares(table, block.first, change.rows, columns_of(change, table), change.tables[name], sharers)


def add_sum(number: Array, changes: Sequence[Change], name: str) -> None:
    """`add_sums` for one value of each label, or a single number."""
    for change in changes:
        number[_codes(change, name)] += change.numbers[name]


def add_mean(number: Array, changes: Sequence[Change], name: str) -> None:
    """`add_means` for one value of each label, or a single number; the shards are those that have changed any of it."""
    changed = [change for change in changes if change.numbers[name].any()]
    for change in changed:
        number[_codes(change, name)] += change.numbers[name] / len(changed)


def add_weighted(weights: Array, squares: Array, changes: Sequence[Change], names: tuple[str, str]) -> None:
    """Mix Adagrad's tables W and G, with the names given; by row, or by label as for the bias.

    Of the changes d of a weight and g of its sum of squared gradients, one of each shard::

        W += sum g d / sum g,   G += sum g^2 / sum g

    A shard whose gradients were larger weighs more; G grows as for one shard, or steps would shrink too fast.
    """
    if weights.ndim == 1:
        add_weighted(weights.reshape(1, -1), squares.reshape(1, -1), of_one_row(changes, names), names)
        return
    _add_weighed(weights, squares, changes, names, squares.shape[1])


def add_by_size(table: Array, changes: Sequence[Change], name: str) -> None:
    """Add sum d |d| / sum |d| for the changes d of each weight, in a table by row or by label."""
    if table.ndim == 1:
        add_by_size(table.reshape(1, -1), of_one_row(changes, [name]), name)
        return
    sizes = [{_SIZES: np.abs(change.tables[name].astype(np.float64))} for change in changes]
    sized = [change._replace(tables={**change.tables, **own}) for change, own in zip(changes, sizes, strict=True)]
    _add_weighed(table, _NONE, sized, (name, _SIZES), table.shape[1])


def add_by_gain(table: Array, changes: Sequence[Change], names: tuple[str, str]) -> None:
    """Add sum g d / sum g for the changes d of each weight and g of its row's precision, [m, 1], or [] of the bias."""
    if table.ndim == 1:
        add_by_gain(table.reshape(1, -1), of_one_row(changes, names), names)
        return
    _add_weighed(table, _NONE, changes, names, 1)


def _add_weighed(table: Array, squares: Array, changes: Sequence[Change], names: tuple[str, str], width: int) -> None:
    """Add sum g d / sum g for the changes d of each weight, and sum g^2 / sum g to squares, unless these are empty.

    names : of d and of g, which is [m, k], or [m, 1] for a width of 1.
    """
    for block in blocks_of(changes, table.shape[1]):
        slots, rows = slots_of(block)
        sums, of_squares = np.zeros((2, rows.size, width))
        for one in block.changes:
            note_squares(slots, block.first, one.rows, columns_of(one, sums), one.tables[names[1]], sums, of_squares)
        for one in block.changes:
            d, g = (one.tables[name] for name in names)
            add_by_squares(table, slots, block.first, one.rows, one.columns, d, g, sums)
        if squares.size:
            add_quotients(squares, rows, of_squares, sums)


def sharers_of(block: Block) -> NDArray[np.int32]:
    """int32[n]: how many shards have changed each row of a block."""
    sharers = np.zeros(block.end - block.first, np.int32)
    for change in block.changes:
        count_sharers(block.first, change.rows, sharers)
    return sharers


def slots_of(block: Block) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """int32[n], a number for each changed row of a block, and int32[m], the changed rows by number."""
    slots, used = np.full(block.end - block.first, -1, np.int32), 0
    rows = np.empty(1 + sum(one.rows.size for one in block.changes), np.int32)
    for change in block.changes:
        used = number_rows(block.first, change.rows, slots, rows, used)
    return slots, rows[:used]


def _codes(change: Change, name: str) -> NDArray[np.int32] | tuple[()]:
    return change.columns if change.numbers[name].ndim else ()


@kernel
def count_sharers(first: int, rows: NDArray[np.int32], sharers: NDArray[np.int32]) -> None:
    """Add 1 to the sharers [n] of each row, which are of the rows from `first` on."""
    for i in range(rows.size):
        sharers[np.uint64(rows[i] - first)] += 1


@kernel
def number_rows(
    first: int, rows: NDArray[np.int32], slots: NDArray[np.int32], numbered: NDArray[np.int32], used: int
) -> int:
    """Give rows without a slot, -1, the slots from `used` on, and note them; returns how many are used by then.

    slots [n] are those of the rows from `first` on. numbered : int32[m + 1] for up to m rows. There is no branch, since
    which rows have a slot already can't be foretold.
    """
    for i in range(rows.size):
        row, place = rows[i], np.uint64(rows[i] - first)
        slot = slots[place]
        slots[place] = used if slot < 0 else slot
        numbered[np.uint64(used)] = row
        used += int(slot < 0)
    return used


@kernel
def add(table: Array, rows: NDArray[np.int32], columns: NDArray[np.int32], differences: Array) -> None:
    """Add differences [m, k] to the places at rows [m] and columns [k]."""
    for begin in range(0, rows.size, _ROWS):
        end = min(begin + _ROWS, rows.size)
        for k in range(columns.size):
            column = np.uint64(columns[k])
            for i in range(begin, end):
                table[np.uint64(rows[i]), column] += differences[i, k]


@kernel
def add_shares(
    table: Array,
    first: int,
    rows: NDArray[np.int32],
    columns: NDArray[np.int32],
    differences: Array,
    sharers: NDArray[np.int32],
) -> None:
    """`add`, divided by the number of sharers [n] of each row, which are of the rows from `first` on."""
    for i in range(rows.size):
        row, share = np.uint64(rows[i]), 1.0 / sharers[np.uint64(rows[i] - first)]
        for k in range(columns.size):
            table[row, np.uint64(columns[k])] += share * differences[i, k]


@kernel
def note_squares(
    slots: NDArray[np.int32],
    first: int,
    rows: NDArray[np.int32],
    columns: NDArray[np.int32],
    g: Array,
    sums: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> None:
    """Add g [m, k] and its squares to the sums of the slots of its rows; slots are of the rows from `first` on."""
    for i in range(rows.size):
        slot = np.uint64(slots[np.uint64(rows[i] - first)])
        for k in range(columns.size):
            column = np.uint64(columns[k])
            sums[slot, column] += g[i, k]
            squares[slot, column] += g[i, k] * g[i, k]


@kernel
def add_by_squares(
    weights: Array,
    slots: NDArray[np.int32],
    first: int,
    rows: NDArray[np.int32],
    columns: NDArray[np.int32],
    d: Array,
    g: Array,
    sums: NDArray[np.float64],
) -> None:
    """Add d [m, k], each weighed by its g, divided by the sum of all g; both of the row where `sums` has one column.

    slots, first : as of `note_squares`.
    """
    shared = sums.shape[1] == 1
    for i in range(rows.size):
        row, slot = np.uint64(rows[i]), np.uint64(slots[np.uint64(rows[i] - first)])
        for k in range(columns.size):
            column = np.uint64(columns[k])
            own, total = (g[i, 0], sums[slot, 0]) if shared else (g[i, k], sums[slot, column])
            if own > 0.0:
                weights[row, column] += d[i, k] * (own / total)


@kernel
def add_quotients(
    table: Array, rows: NDArray[np.int32], numerators: NDArray[np.float64], denominators: NDArray[np.float64]
) -> None:
    """Add numerators / denominators [m, k] to the first k columns of rows [m], where the denominator is positive."""
    for i in range(rows.size):
        row = np.uint64(rows[i])
        for k in range(denominators.shape[1]):
            if denominators[i, k] > 0.0:
                table[row, k] += numerators[i, k] / denominators[i, k]


@kernel
def add_by_precision(
    weights: Array,
    rows: NDArray[np.int32],
    columns: NDArray[np.int32],
    d: Array,
    g: NDArray[np.float64],
    precisions: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> None:
    """Add d [m, k] (P + g) / (P + the sum of all g), for g [m, 1], P - 1 and the sums [n_rows, 1]."""
    for i in range(rows.size):
        own = 1.0 + precisions[rows[i], 0]
        share = (own + g[i, 0]) / (own + sums[rows[i], 0])
        for k in range(columns.size):
            weights[rows[i], columns[k]] += share * d[i, k]


@kernel
def add_late_shares(
    sums: NDArray[np.float64],
    first: int,
    rows: NDArray[np.int32],
    columns: NDArray[np.int32],
    d: Array,
    u: NDArray[np.float64],
    own_clock: float,
    clock: float,
    sharers: NDArray[np.int32],
) -> None:
    """Add clock d / sharers + u - own_clock d for d, u [m, k]; see `streamlin.learners.averaging.mix_average`.

    sharers [n] are of the rows from `first` on.
    """
    for i in range(rows.size):
        row, factor = np.uint64(rows[i]), clock / sharers[np.uint64(rows[i] - first)] - own_clock
        for k in range(columns.size):
            sums[row, np.uint64(columns[k])] += factor * d[i, k] + u[i, k]
