"""What shards have changed of a learner, and the ways to mix it into one table.

Several shards learn from the same tables, each for itself; every learner's `mix` then adds their changes, in the order
of the shards. All shards' changes of one row are weighed against each other, and none against what a shard did not see.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.learners.tables import Array

FIRST = np.zeros(1, np.int32)
"""The row, or the column, of a table that has only one."""


class Change(NamedTuple):
    """What one shard has changed of one learner: differences, each from before to after.

    rows : int32[m], the rows that it has changed, each once. columns : int32[k], the codes of its labels.
    tables : by name, [m, k], or [m, 1] for one that labels share. numbers : by name, [k], or [] for a single number.
    """

    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    tables: Mapping[str, Array]
    numbers: Mapping[str, Array]

    @property
    def is_empty(self) -> bool:
        """Whether nothing has changed."""
        return not self.rows.size and not any(number.any() for number in self.numbers.values())


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
    for change in changes:
        add(table, change.rows, columns_of(change, table), change.tables[name])


def add_means(table: Array, changes: Sequence[Change], name: str) -> None:
    """Add to each row the mean of its changes, over the shards that have changed it."""
    add_means_of(table, changes, name, sharers_of(changes, len(table)))


def add_means_of(table: Array, changes: Sequence[Change], name: str, sharers: NDArray[np.int32]) -> None:
    """`add_means` with the sharers of the changes."""
    for change in changes:
        add_shares(table, change.rows, columns_of(change, table), change.tables[name], sharers)


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
    own = [change.tables[names[1]] for change in changes]
    rows, sums, of_squares = _add_weighed(weights, changes, names[0], own, squares.shape[1])
    add_quotients(squares, rows, of_squares, sums)


def add_by_size(table: Array, changes: Sequence[Change], name: str) -> None:
    """Add sum d |d| / sum |d| for the changes d of each weight, in a table by row or by label."""
    if table.ndim == 1:
        add_by_size(table.reshape(1, -1), of_one_row(changes, [name]), name)
        return
    sizes = [np.abs(change.tables[name].astype(np.float64)) for change in changes]
    _add_weighed(table, changes, name, sizes, table.shape[1])


def add_by_gain(table: Array, changes: Sequence[Change], names: tuple[str, str]) -> None:
    """Add sum g d / sum g for the changes d of each weight and g of its row's precision, [m, 1], or [] of the bias."""
    if table.ndim == 1:
        add_by_gain(table.reshape(1, -1), of_one_row(changes, names), names)
        return
    _add_weighed(table, changes, names[0], [change.tables[names[1]] for change in changes], 1)


def _add_weighed(
    table: Array, changes: Sequence[Change], name: str, own: Sequence[Array], width: int
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
    """Add sum g d / sum g for the changes d of each weight. own : g [m, k] of each change, [m, 1] for a width of 1.

    Returns the changed rows, int32[r], and for each sum g and sum g^2, float64[r, width].
    """
    slots, rows = slots_of(changes, len(table))
    sums, of_squares = np.zeros((2, rows.size, width))
    for change, g in zip(changes, own, strict=True):
        note_squares(slots, change.rows, columns_of(change, sums), g, sums, of_squares)
    for change, g in zip(changes, own, strict=True):
        add_by_squares(table, slots, change.rows, change.columns, change.tables[name], g, sums)
    return rows, sums, of_squares


def sharers_of(changes: Sequence[Change], n_rows: int) -> NDArray[np.int32]:
    """int32[n_rows]: how many shards have changed each row."""
    sharers = np.zeros(n_rows, np.int32)
    for change in changes:
        count_sharers(change.rows, sharers)
    return sharers


def slots_of(changes: Sequence[Change], n_rows: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """int32[n_rows], a number for each changed row, and int32[m], the changed rows by number."""
    slots, rows, n = np.full(n_rows, -1, np.int32), np.empty(sum(one.rows.size for one in changes), np.int32), 0
    for change in changes:
        n = number_rows(change.rows, slots, rows, n)
    return slots, rows[:n]


def _codes(change: Change, name: str) -> NDArray[np.int32] | tuple[()]:
    return change.columns if change.numbers[name].ndim else ()


@kernel
def count_sharers(rows: NDArray[np.int32], sharers: NDArray[np.int32]) -> None:
    """Add 1 to the sharers [n_rows] of each row."""
    for i in range(rows.size):
        sharers[rows[i]] += 1


@kernel
def number_rows(rows: NDArray[np.int32], slots: NDArray[np.int32], numbered: NDArray[np.int32], n: int) -> int:
    """Give rows without a slot, -1, the slots from n on, and note them; returns how many there are then."""
    for i in range(rows.size):
        row = rows[i]
        if slots[row] < 0:
            slots[row] = n
            numbered[n] = row
            n += 1
    return n


@kernel
def add(table: Array, rows: NDArray[np.int32], columns: NDArray[np.int32], differences: Array) -> None:
    """Add differences [m, k] to the places at rows [m] and columns [k]."""
    for i in range(rows.size):
        for k in range(columns.size):
            table[rows[i], columns[k]] += differences[i, k]


@kernel
def add_shares(
    table: Array,
    rows: NDArray[np.int32],
    columns: NDArray[np.int32],
    differences: Array,
    sharers: NDArray[np.int32],
) -> None:
    """`add`, divided by the number of sharers [n_rows] of each row."""
    for i in range(rows.size):
        share = 1.0 / sharers[rows[i]]
        for k in range(columns.size):
            table[rows[i], columns[k]] += share * differences[i, k]


@kernel
def note_squares(
    slots: NDArray[np.int32],
    rows: NDArray[np.int32],
    columns: NDArray[np.int32],
    g: Array,
    sums: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> None:
    """Add g [m, k] and its squares to the sums of the slots of its rows."""
    for i in range(rows.size):
        slot = slots[rows[i]]
        for k in range(columns.size):
            sums[slot, columns[k]] += g[i, k]
            squares[slot, columns[k]] += g[i, k] * g[i, k]


@kernel
def add_by_squares(
    weights: Array,
    slots: NDArray[np.int32],
    rows: NDArray[np.int32],
    columns: NDArray[np.int32],
    d: Array,
    g: Array,
    sums: NDArray[np.float64],
) -> None:
    """Add d [m, k], each weighed by its g, divided by the sum of all g; both of the row where `sums` has one column."""
    shared = sums.shape[1] == 1
    for i in range(rows.size):
        slot = slots[rows[i]]
        for k in range(columns.size):
            own, total = (g[i, 0], sums[slot, 0]) if shared else (g[i, k], sums[slot, columns[k]])
            if own > 0.0:
                weights[rows[i], columns[k]] += d[i, k] * (own / total)


@kernel
def add_quotients(
    table: Array, rows: NDArray[np.int32], numerators: NDArray[np.float64], denominators: NDArray[np.float64]
) -> None:
    """Add numerators / denominators [m, k] to the first k columns of rows [m], where the denominator is positive."""
    for i in range(rows.size):
        for k in range(denominators.shape[1]):
            if denominators[i, k] > 0.0:
                table[rows[i], k] += numerators[i, k] / denominators[i, k]


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
    rows: NDArray[np.int32],
    columns: NDArray[np.int32],
    d: Array,
    u: NDArray[np.float64],
    own_clock: float,
    clock: float,
    sharers: NDArray[np.int32],
) -> None:
    """Add clock d / sharers + u - own_clock d for d, u [m, k]; see `streamlin.learners.averaging.mix_average`."""
    for i in range(rows.size):
        factor = clock / sharers[rows[i]] - own_clock
        for k in range(columns.size):
            sums[rows[i], columns[k]] += factor * d[i, k] + u[i, k]
