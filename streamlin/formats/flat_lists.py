"""Finds lists of texts in JSON objects that are otherwise flat, as `flat_json` finds the fields of flat ones."""

import numpy as np
from numpy.typing import NDArray

from streamlin.formats.flat_json import (
    COMMA,
    END,
    ESCAPED,
    INVALID,
    MISSING,
    OTHER,
    behind_blanks,
    member,
    next_member,
    value,
)
from streamlin.kernel import kernel

ABSENT = -1
"""The size of a list that a record lacks, or that is null."""
_BEGIN = 0x5B


@kernel
def find_lists(
    data: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    keys: NDArray[np.uint8],
    key_bounds: NDArray[np.int64],
    begins: NDArray[np.int64],
    stops: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    item_begins: NDArray[np.int64],
    item_stops: NDArray[np.int64],
    item_kinds: NDArray[np.uint8],
    bounds: NDArray[np.int64],
) -> int:
    """Find F fields and L lists, which stand behind each other in `keys`, in n records; the length of all lists.

    Returns -1 if a record has lists of different lengths, lacks the first one, or is not flat but for lists. The other
    lists may be missing: then their items are.

    data, starts, ends, keys, key_bounds, begins, stops, kinds : see `find_fields`.
    item_begins, item_stops int64[L, m], item_kinds [L, m] : set to where each item stands; has room for a third of the
        records' bytes, as an item takes three. bounds int64[n + 1] : set to those of each record's items.
    """
    n_fields, sizes, end = kinds.shape[0], np.empty(item_kinds.shape[0], np.int64), 0
    bounds[0] = 0
    for i in range(starts.size):
        for field in range(n_fields):
            kinds[field, i] = MISSING
        for own in range(sizes.size):
            sizes[own] = ABSENT
        last = ends[i] - 1
        at = behind_blanks(data, starts[i] + 1, last)
        while at < last:
            field, begin = member(data, at, last, keys, key_bounds)
            own = field - n_fields
            if begin < 0 or (own >= 0 and sizes[own] != ABSENT):
                return -1
            if data[begin] == _BEGIN:
                into = max(own, 0)
                places = item_begins[into], item_stops[into], item_kinds[into]
                after, size = items(data, begin, last, own >= 0, end, *places)
                if own >= 0:
                    sizes[own] = size
                if size < 0 or 0 <= field < n_fields:
                    return -1
            else:
                kind, begin, stop, after = value(data, begin, last)
                if kind == INVALID or (own >= 0 and kind != MISSING):
                    return -1
                if 0 <= field < n_fields:
                    if kinds[field, i] != MISSING or kind == OTHER:
                        return -1
                    begins[field, i], stops[field, i], kinds[field, i] = begin, stop, kind
            at = next_member(data, after, last)
            if at < 0:
                return -1
        if not fill(sizes, end, item_kinds):
            return -1
        end += sizes[0]
        bounds[i + 1] = end
    return end


@kernel
def fill(sizes: NDArray[np.int64], end: int, item_kinds: NDArray[np.uint8]) -> bool:
    """Give a record's absent lists items that are missing, from `end` on; False if its lists are not equally long."""
    if sizes[0] == ABSENT:
        return False
    for own in range(1, sizes.size):
        if sizes[own] != ABSENT and sizes[own] != sizes[0]:
            return False
        if sizes[own] == ABSENT:
            for t in range(end, end + sizes[0]):
                item_kinds[own, t] = MISSING
    return True


@kernel
def items(
    data: NDArray[np.uint8],
    at: int,
    last: int,
    wanted: bool,
    first: int,
    begins: NDArray[np.int64],
    stops: NDArray[np.int64],
    kinds: NDArray[np.uint8],
) -> tuple[int, int]:
    """Where the list that begins at `at` ends, and its length; length -1 if it is not flat.

    wanted : whether its items, texts or null, are set from `first` on; otherwise it may have other values.
    """
    at = behind_blanks(data, at + 1, last)
    if data[at] == END:
        return at + 1, 0
    size = 0
    while at < last:
        kind, begin, stop, after = value(data, at, last)
        if kind == INVALID:
            return at, -1
        if wanted:
            if kind > ESCAPED:
                return at, -1
            begins[first + size], stops[first + size], kinds[first + size] = begin, stop, kind
        size += 1
        at = behind_blanks(data, after, last)
        if data[at] == END and at < last:
            return at + 1, size
        if data[at] != COMMA:
            return at, -1
        at = behind_blanks(data, at + 1, last)
    return at, -1
