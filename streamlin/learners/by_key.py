"""Calls of a learner's `learn_batch` kernel for events of many keys, for each key with its own tables.

The tables of all keys lie in common arrays: the rows of a key are a block of consecutive rows, and what a learner keeps
once, as a bias, is a row of a small table. For the events of a key the kernel gets views of the key's part, so it does
what it would do in a run of these events alone.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.kernel.compiled_forms import overloaded_by
from streamlin.kernel.prefetch import prefetch
from streamlin.kernel.unowned import unowned


class KeyedEvents(NamedTuple):
    """n events of m keys as `learn_keyed` kernels read them, key by key, those of a key in the order of the stream.

    indptr, rows, values, rows_before : see `Examples`; rows are numbered within each key.
    codes, known, weights : see `Targets`; labels are numbered within each key.
    bounds : int64[m + 1]; the events of the i-th key are `bounds[i]` to `bounds[i + 1]`.
    slots : int32[m], the slot of each key. begins, ends : int64[m], its block of rows.
    """

    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: NDArray[np.float32]
    rows_before: NDArray[np.int64]
    codes: NDArray[np.int32]
    known: NDArray[np.int64]
    weights: NDArray[np.float64]
    bounds: NDArray[np.int64]
    slots: NDArray[np.int32]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]


class ByRow(NamedTuple):
    """A table with a row for each feature of each key, [rows, columns]."""

    table: NDArray[Any]


class BySlot(NamedTuple):
    """A table with a row of labels for each key, [slots, labels]."""

    table: NDArray[Any]


class ByNumber(NamedTuple):
    """A table with a number for each key, [slots]."""

    table: NDArray[Any]


@kernel
def of_key(events: KeyedEvents, key: int, arguments: tuple[Any, ...], scores: NDArray[np.float64]) -> tuple[Any, ...]:
    """The arguments of `learn_batch` for the events of one key. arguments : those between the batch and the scores.

    The rows of the next key's first event are asked for meanwhile.
    """
    # To count the references to all tables would take longer than to learn.
    of, own = unowned(events), unowned(arguments)
    if key + 1 < of.slots.size:
        ask_for(own, of, key + 1)
    first, last = of.bounds[key], of.bounds[key + 1]
    return (
        of.indptr[first : last + 1],
        of.rows,
        of.values,
        of.rows_before[first:last],
        of.codes[first:last],
        of.known[first:last],
        of.weights[first:last],
        *arguments_of(own, of.slots[key], of.begins[key], of.ends[key]),
        unowned(scores)[first:last],
    )


def _compiled_arguments_of(arguments: Any, slot: Any, begin: Any, end: Any) -> Any:
    return _unrolled("_with_table", arguments, "slot, begin, end")


def _compiled_ask_for(arguments: Any, events: Any, key: Any) -> Any:
    return _unrolled("_prefetched", arguments, "events, key")


def _unrolled(function: str, arguments: Any, more: str) -> Any:
    """A tuple of what a function makes of each argument, whose types differ."""
    items = ", ".join(f"{function}(arguments[{i}], {more})" for i in range(len(arguments.types)))
    return eval(f"lambda arguments, {more}: ({items},)", globals())


def _compiled_with_table(argument: Any, slot: Any, begin: Any, end: Any) -> Any:
    wrapper = getattr(argument, "instance_class", None)
    if wrapper is ByRow:
        return lambda argument, slot, begin, end: argument.table[begin:end]
    if wrapper is BySlot:
        return lambda argument, slot, begin, end: argument.table[slot]
    if wrapper is ByNumber:
        return lambda argument, slot, begin, end: argument.table[slot : slot + 1].reshape(())
    return lambda argument, slot, begin, end: argument


def _compiled_prefetched(argument: Any, events: Any, key: Any) -> Any:
    if getattr(argument, "instance_class", None) is ByRow:

        def asked(argument: Any, events: Any, key: Any) -> Any:
            first, begin = events.bounds[key], events.begins[key]
            for j in range(events.indptr[first], events.indptr[first + 1]):
                prefetch(argument.table, begin + events.rows[j])
            return 0

        return asked
    return lambda argument, events, key: 0


@overloaded_by(_compiled_arguments_of)
def arguments_of(arguments: tuple[Any, ...], slot: Any, begin: Any, end: Any) -> tuple[Any, ...]:
    """A learner's arguments with the tables of one key in place of those of all keys."""
    return tuple(_with_table(argument, slot, begin, end) for argument in arguments)


@overloaded_by(_compiled_ask_for)
def ask_for(arguments: tuple[Any, ...], events: KeyedEvents, key: Any) -> tuple[Any, ...]:
    """`prefetch` the rows of a key's first event in each table of rows."""
    return tuple(_prefetched(argument, events, key) for argument in arguments)


@overloaded_by(_compiled_with_table)
def _with_table(argument: Any, slot: Any, begin: Any, end: Any) -> Any:
    if isinstance(argument, ByRow):
        return argument.table[begin:end]
    if isinstance(argument, BySlot | ByNumber):
        return argument.table[slot, ...]
    return argument


@overloaded_by(_compiled_prefetched)
def _prefetched(argument: Any, events: KeyedEvents, key: Any) -> Any:
    return 0
