"""Feature rows of many keys: each key numbers its own, in a block of rows that only it uses.

A key's features are numbered as `RowIndex` numbers those of a run of this key's events alone. Row r of a key is row
`begin + r` of the learners' tables. A block has room for 2^c rows; a key that outgrows it moves to a larger one. Blocks
that are given up are used again for blocks of the same size. The rows of a key lie side by side, so scoring an event
touches few pages of memory.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import CheckpointError
from streamlin.features import Buckets
from streamlin.kernel import kernel
from streamlin.kernel.prefetch import prefetch
from streamlin.storage.arrays import Expected, expected

_SMALLEST = 16
"""The rows of the smallest block; a power of 2."""
_AMPLE = 8
"""By how much the room for all blocks grows."""
_NEAR = 256
"""Rows of a block whose buckets are asked for ahead: 16 cache lines."""
_MIXER, _WORD = 0x9E3779B1, 0xFFFFFFFF
"""Multiplicative hashing (Knuth, The Art of Computer Programming 3, section 6.4) of buckets to 32 bits."""


class KeyRows:
    """The rows of each key in one view.

    begin, room, count : int64[slots]; where each key's block begins, how many rows it has room for, how many it has.
    bucket_of : int32[arena], the bucket of each row. places : int32[2 arena], each block's hash table from buckets to
        rows, of twice as many places as rows; -1 for an empty one.
    end : int64[1], the rows of all blocks, in use or given up.
    """

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.begin, self.room, self.count = (np.zeros(0, np.int64) for _ in range(3))
        self.bucket_of, self.places = np.zeros(0, np.int32), np.zeros(0, np.int32)
        self.end = np.zeros(1, np.int64)
        self._heads = np.full(64, -1, np.int64)
        self.moves = np.zeros((0, 4), np.int64)
        """Blocks that keys outgrew in this batch: where each began, its rows from before the batch, the new begin, and
        its room. Rows that are new in the batch hold nothing yet, so they need not be copied."""

    def __len__(self) -> int:
        """The rows of all keys."""
        return int(self.count.sum())

    @property
    def arena(self) -> int:
        """The rows that the learners' tables need."""
        return int(self.end[0])

    def grow(self, slots: int) -> None:
        """Make room for so many keys."""
        if slots > self.count.size:
            more = np.zeros(slots - self.count.size + slots // 4, np.int64)
            self.begin, self.room, self.count = (np.append(old, more) for old in (self.begin, self.room, self.count))

    def assign(
        self, features: Buckets, slots: NDArray[np.int32], learned: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Look up the rows int32[nnz] of n events, and the number of their keys' rows before each, int64[n].

        slots : int32[n]. learned : bool[n]; these events bring rows for their new buckets.
        """
        indptr, buckets, _ = features
        rows, rows_before = np.empty(buckets.size, np.int32), np.empty(slots.size, np.int64)
        moves, n_moves, at = np.empty((slots.size, 4), np.int64), np.zeros(1, np.int64), 0
        while True:
            at = assign_key_rows(
                indptr,
                buckets,
                slots,
                learned,
                at,
                self.begin,
                self.room,
                self.count,
                self.bucket_of,
                self.places,
                self._heads,
                self.end,
                moves,
                n_moves,
                rows,
                rows_before,
            )
            if at == slots.size:
                self.moves = moves[: n_moves[0]]
                return rows, rows_before
            self._enlarge(int(indptr[at + 1] - indptr[at]) + int(self.count[slots[at]]))

    def free(self, slots: NDArray[np.int32]) -> NDArray[np.int64]:
        """Give up the blocks that were outgrown in this batch, and those of some keys.

        Returns int64[m, 2]: where the blocks of these keys begin, and their rows in use, which the learners' tables
        must clear; those that were outgrown were cleared when they moved.
        """
        held = slots[self.room[slots] > 0]
        begins, rooms = self.begin[held], self.room[held]
        left = np.stack([begins, self.count[held]], 1)
        outgrown = self.moves
        free_blocks(np.append(outgrown[:, 0], begins), np.append(outgrown[:, 3], rooms), self.places, self._heads)
        self.room[slots] = self.count[slots] = 0
        self.moves = self.moves[:0]
        return left

    def rows_of(self, slots: NDArray[np.int32]) -> NDArray[np.int64]:
        """int64[m]: the rows of some keys in the tables, key by key, each in its own order."""
        counts = self.count[slots]
        ends = np.cumsum(counts)
        return np.repeat(self.begin[slots] - ends + counts, counts) + np.arange(counts.sum())

    def new_rows(self, buckets: NDArray[np.int32], slot: int) -> int:
        """How many rows a learned event with these buckets brings to a key; slot : -1 for a key without a model."""
        if slot < 0:
            return buckets.size
        begin = self.begin[slot]
        return int(np.setdiff1d(buckets, self.bucket_of[begin : begin + self.count[slot]]).size)

    def state(self, slots: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
        """The rows of these keys: how many each has, and their buckets."""
        return {"rows": self.count[slots], "buckets": self.bucket_of[self.rows_of(slots)]}

    def expected(self, keys: int) -> dict[str, Expected]:
        """What the arrays of a `state` of so many keys must be."""
        highest = (1 << self.bits) - 1
        return {"rows": expected(np.int64, keys), "buckets": expected(np.int32, None, highest=highest)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Give the keys of a `state` the slots 0, 1, … Raises CheckpointError if the arrays contradict each other."""
        counts, buckets = arrays["rows"], arrays["buckets"]
        if sum(counts.tolist()) != buckets.size:
            raise CheckpointError("the checkpoint's rows of keys are not those of their buckets")
        owners = np.repeat(np.arange(counts.size), counts)
        if np.unique(owners << 31 | buckets).size < buckets.size:
            raise CheckpointError("the checkpoint gives one bucket of a key two rows")
        self.__init__(self.bits)  # type: ignore[misc]
        self.grow(counts.size)
        self._enlarge(2 * buckets.size + _SMALLEST * counts.size)
        indptr, slots = np.append(0, np.cumsum(counts)), np.arange(counts.size, dtype=np.int32)
        self.assign(Buckets(indptr, buckets, np.empty(0, np.float32)), slots, np.ones(counts.size, np.bool_))

    def _enlarge(self, rows: int) -> None:
        """Make room for a block of so many rows, and for many more: the system provides memory once it is used."""
        arena = max(_AMPLE * self.bucket_of.size, self.arena + 2 * rows + _SMALLEST)
        for name, places in (("bucket_of", 1), ("places", 2)):
            larger, used = np.empty(places * arena, np.int32), places * self.arena
            larger[:used] = getattr(self, name)[:used]
            setattr(self, name, larger)


@kernel
def assign_key_rows(
    indptr: NDArray[np.int64],
    buckets: NDArray[np.int32],
    slots: NDArray[np.int32],
    learned: NDArray[np.bool_],
    first: int,
    begin: NDArray[np.int64],
    room: NDArray[np.int64],
    count: NDArray[np.int64],
    bucket_of: NDArray[np.int32],
    places: NDArray[np.int32],
    heads: NDArray[np.int64],
    end: NDArray[np.int64],
    moves: NDArray[np.int64],
    n_moves: NDArray[np.int64],
    rows: NDArray[np.int32],
    rows_before: NDArray[np.int64],
) -> int:
    """Set rows and rows_before from event `first` on; see `KeyRows`, whose arrays are changed in place.

    Returns the event for whose block there is no room; the number of events if there is none.
    """
    key, before, origin = -1, 0, -1
    for i in range(first, slots.size):
        s = slots[i]
        ask_for_places(i + 1, indptr, buckets, slots, begin, room, bucket_of, places)
        if s != key:
            key, before, origin = int(s), int(count[s]), -1
        rows_before[i] = count[s]
        missing = 0
        for j in range(indptr[i], indptr[i + 1]):
            rows[j] = find_row(buckets[j], begin[s], room[s], bucket_of, places)
            missing += rows[j] < 0
        if missing == 0 or not learned[i]:
            continue
        if count[s] + missing > room[s]:
            old, held, had = begin[s], count[s], room[s]
            if not take_block(s, held + missing, begin, room, bucket_of.size, places, heads, end):
                return i
            for row in range(held):
                bucket_of[begin[s] + row] = bucket_of[old + row]
                place_row(row, begin[s], room[s], bucket_of, places)
            if had > 0:
                n = n_moves[0]
                moves[n, 0], moves[n, 1], moves[n, 2], moves[n, 3] = old, before, begin[s], had
                if origin >= 0:  # the rows go from the first block to the last one
                    moves[origin, 2], moves[n, 1] = begin[s], 0
                else:
                    origin = n
                n_moves[0] += 1
        for j in range(indptr[i], indptr[i + 1]):
            if rows[j] < 0:
                rows[j] = count[s]
                bucket_of[begin[s] + count[s]] = buckets[j]
                place_row(count[s], begin[s], room[s], bucket_of, places)
                count[s] += 1
    return slots.size


@kernel
def ask_for_places(
    i: int,
    indptr: NDArray[np.int64],
    buckets: NDArray[np.int32],
    slots: NDArray[np.int32],
    begin: NDArray[np.int64],
    room: NDArray[np.int64],
    bucket_of: NDArray[np.int32],
    places: NDArray[np.int32],
) -> None:
    """`prefetch` what `find_row` reads for event i, if there is one."""
    if i < slots.size and room[slots[i]] > 0:
        first, size = begin[slots[i]], room[slots[i]]
        for j in range(indptr[i], indptr[i + 1]):
            prefetch(places, 2 * first + first_place(np.int64(buckets[j]), size))
        for row in range(0, min(size, _NEAR), _SMALLEST):
            prefetch(bucket_of, first + row)


@kernel
def first_place(bucket: int | np.int64, room: int) -> int:
    """Where the search for a bucket begins in the hash table of a block."""
    return int(((bucket * _MIXER & _WORD) * (2 * room)) >> 32)


@kernel
def find_row(bucket: int, begin: int, room: int, bucket_of: NDArray[np.int32], places: NDArray[np.int32]) -> int:
    """The row of a bucket within its key; -1 if it has none."""
    if room == 0:
        return -1
    place = first_place(np.int64(bucket), room)
    while True:
        row = places[2 * begin + place]
        if row < 0 or bucket_of[begin + row] == bucket:
            return int(row)
        place = (place + 1) & (2 * room - 1)


@kernel
def place_row(row: int, begin: int, room: int, bucket_of: NDArray[np.int32], places: NDArray[np.int32]) -> None:
    """Enter a row, whose bucket is set, in the hash table of its block."""
    place = first_place(np.int64(bucket_of[begin + row]), room)
    while places[2 * begin + place] >= 0:
        place = (place + 1) & (2 * room - 1)
    places[2 * begin + place] = row


@kernel
def take_block(
    slot: int,
    rows: int,
    begin: NDArray[np.int64],
    room: NDArray[np.int64],
    arena: int,
    places: NDArray[np.int32],
    heads: NDArray[np.int64],
    end: NDArray[np.int64],
) -> bool:
    """Give a key a block for so many rows, one that was given up or else a new one; False if the arena is too small.

    heads int64[64] : for each size the first block that was given up, -1 for none; `places` has the next.
    """
    size, number = _SMALLEST, 0
    while size < rows:
        size, number = 2 * size, number + 1
    block = heads[number]
    if block >= 0:
        heads[number] = places[2 * block]
    elif end[0] + size > arena:
        return False
    else:
        block = end[0]
        end[0] += size
    begin[slot], room[slot] = block, size
    places[2 * block : 2 * (block + size)] = -1
    return True


@kernel
def free_blocks(
    begins: NDArray[np.int64], rooms: NDArray[np.int64], places: NDArray[np.int32], heads: NDArray[np.int64]
) -> None:
    """Give up blocks."""
    for block in range(begins.size):
        size, number = _SMALLEST, 0
        while size < rooms[block]:
            size, number = 2 * size, number + 1
        places[2 * begins[block]] = heads[number]
        heads[number] = begins[block]
