"""Names of features: the n-grams that were seen in each bucket, since a hash can't be inverted.

n-grams are identified by all 32 bits of their murmur3 hash; a bucket is only `bits` of them. The kernels that find and
store new n-grams are in `name_kernels.py`, imported only where names are kept, because kernels take time to load.
"""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import CheckpointError
from streamlin.events import Batch, single_records
from streamlin.features.forms import CHARACTERS, write_units
from streamlin.features.ngrams import buckets_of
from streamlin.features.rows import RowIndex
from streamlin.features.view import View
from streamlin.storage.arrays import Expected, expected

_SMALLEST = 1024


class Names:
    """The n-grams that a view's feature rows represent, in order of first sight.

    An n-gram is stored with the first learned event that contains it once its bucket has a row. All n-grams of a bucket
    are stored, so that collisions are visible; of several with the same 32-bit hash only the first is.

    limit : the maximum number of names; names stored earlier stay. It may differ from run to run.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._count = 0
        self._allocate(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.uint8))

    def __len__(self) -> int:
        return self._count

    @property
    def is_full(self) -> bool:
        """Whether no more names are stored."""
        return self._count >= self.limit

    def note(
        self,
        view: View,
        batches: Sequence[Batch],
        sources: NDArray[np.int64],
        learned: NDArray[np.bool_],
        rows_before: NDArray[np.int64],
        index: RowIndex,
    ) -> None:
        """Store the n-grams that the n rows of a step bring, in stream order.

        sources : int64[n], the event of each row, numbered through all batches.
        learned : bool[n]. rows_before : int64[n], as in `Examples`. index : as it is after all of the events.
        """
        if not learned.any():
            return
        from streamlin.features.name_kernels import note_rows

        rows_after = np.append(rows_before[1:], len(index))
        data, lengths, pieces, named, name_lengths = view.encode_batches(batches)
        ascii_ranges, unicode_table, min_length, form, shortest, longest, _, bits, _ = view.hash_options
        token_bytes, starts, ends = write_units(data, lengths, ascii_ranges, unicode_table, min_length, form)
        name_ends = np.append(0, np.cumsum(name_lengths))
        row = 0
        while row < sources.size and not self.is_full:
            row, self._count = note_rows(
                row,
                sources,
                learned,
                rows_after,
                token_bytes,
                starts,
                np.append(0, ends),
                pieces,
                named,
                name_ends,
                int(view.form == CHARACTERS),
                shortest,
                longest,
                bits,
                index.row_of,
                self.limit,
                self._slots,
                self._hashes,
                self._ends,
                self._bytes,
                self._count,
            )
            if row < sources.size and not self.is_full:
                self._allocate(*self._used())

    def note_words(self, view: View, words: Sequence[str], index: RowIndex) -> None:
        """Store those n-grams of words set by hand that have a row, before the first event."""
        n = len(words)
        if n and not self.is_full:
            none: list[str | None] = [None] * n
            extra = dict.fromkeys(view.categories, none)
            texts = Batch(none, [*words], none, np.ones(n), np.full(n, np.nan), extra, single_records([]), np.arange(n))
            self.note(view, (texts,), np.arange(n), np.ones(n, np.bool_), np.full(n, len(index)), index)

    def since(self, count: int) -> dict[str, NDArray[Any]]:
        """A `state` of the names behind the first `count`."""
        hashes, ends, data = self._used()
        if count == hashes.size:
            return {}
        begin = ends[count - 1] if count else 0
        return {"hashes": hashes[count:].copy(), "ends": ends[count:] - begin, "octets": data[begin:].copy()}

    def add(self, hashes: NDArray[np.int32], ends: NDArray[np.int64], octets: NDArray[np.uint8]) -> None:
        """Store names of a `state`, in order, as far as they are new and there is room."""
        known, known_ends, data = self._used()
        new = np.flatnonzero(~np.isin(_keys(hashes), _keys(known)))[: self.limit - self._count]
        names = [octets[ends[i - 1] if i else 0 : ends[i]] for i in new.tolist()]
        begin = known_ends[-1] if known_ends.size else 0
        added = begin + np.cumsum([name.size for name in names], dtype=np.int64)
        self._count += new.size
        if new.size:
            self._allocate(
                np.concatenate([known, hashes[new]]),
                np.concatenate([known_ends, added]),
                np.concatenate([data, *names]),
            )

    def of_buckets(self, buckets: Collection[int], bits: int) -> dict[int, list[str]]:
        """The names of some buckets, in order of first sight; a bucket without a name is left out."""
        hashes, ends, data = self._used()
        names: dict[int, list[str]] = {}
        places = buckets_of(hashes, bits)
        for i in np.flatnonzero(np.isin(places, np.array(list(buckets), np.int64))).tolist():
            name = data[ends[i - 1] if i else 0 : ends[i]].tobytes()
            names.setdefault(int(places[i]), []).append(name.decode("utf-8", "surrogatepass"))
        return names

    def state(self) -> dict[str, NDArray[Any]]:
        """If n > 0: hashes int32[n], ends int64[n], octets uint8[m], where name i is `octets[ends[i - 1]:ends[i]]`."""
        hashes, ends, data = self._used()
        return {"hashes": hashes, "ends": ends, "octets": data} if self._count else {}

    @staticmethod
    def expected() -> dict[str, Expected]:
        """What the arrays of a `state` with names must be."""
        hashes = expected(np.int32, None, lowest=None)
        return {"hashes": hashes, "ends": expected(np.int64, None), "octets": expected(np.uint8, None)}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Restore what `state` returned. Raises CheckpointError if it is not names."""
        if state:
            _check_names(**state)
            self._count = state["hashes"].size
            self._allocate(state["hashes"], state["ends"], state["octets"])

    def _used(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint8]]:
        ends = self._ends[: self._count]
        return self._hashes[: self._count], ends, self._bytes[: ends[-1] if ends.size else 0]

    def _allocate(self, hashes: NDArray[np.int32], ends: NDArray[np.int64], data: NDArray[np.uint8]) -> None:
        """Make arrays that hold these names, with room for twice as many unless the limit is reached."""
        room = hashes.size if self.is_full else 2 * max(hashes.size, _SMALLEST)
        self._hashes, self._ends = np.zeros(room, np.int32), np.zeros(room, np.int64)
        self._bytes = np.zeros(data.size if self.is_full else 2 * data.size + 32 * _SMALLEST, np.uint8)
        self._hashes[: hashes.size], self._ends[: ends.size], self._bytes[: data.size] = hashes, ends, data
        self._slots = np.zeros(0 if self.is_full else 2 << (room - 1).bit_length(), np.int32)
        if self._slots.size:
            from streamlin.features.name_kernels import fill_slots

            fill_slots(hashes, self._slots)


def _keys(hashes: NDArray[np.int32]) -> NDArray[np.int32]:
    """See `streamlin.features.name_kernels.key_of`."""
    return np.where(hashes == 0, np.int32(1), hashes)


def _check_names(hashes: NDArray[np.int32], ends: NDArray[np.int64], octets: NDArray[np.uint8]) -> None:
    """Raise CheckpointError unless there is a name for each hash, one behind the other, all of them UTF-8."""
    fits = 0 < hashes.size == ends.size and ends[-1] == octets.size and bool((np.diff(ends) >= 0).all())
    if not fits or ((octets[ends[:-1][ends[:-1] < octets.size]] & 0xC0) == 0x80).any():
        raise CheckpointError("the checkpoint's names of features do not fit together")
    try:
        octets.tobytes().decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise CheckpointError("the checkpoint's names of features are not UTF-8") from None


def is_name_of(name: str, ngram: str) -> bool:
    """Whether an n-gram has this name, which may be cut."""
    return name == ngram or (name.endswith("…") and ngram.startswith(name[:-1]))
