"""Names of features: the n-grams that were seen in each bucket, since a hash can't be turned back.

n-grams are told apart by their whole murmur3, of which a bucket is but `bits` bits. What finds those that are new, and
writes them down, is in `naming.py`; it is imported where names are kept, for kernels take their time to load.
"""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.events import Batch
from streamlin.features.ngrams import buckets_of
from streamlin.features.rows import RowIndex
from streamlin.features.tokens import write_tokens
from streamlin.features.view import View

_SMALLEST = 1024


class Names:
    """The n-grams that a view's rows stand for, in order of first sight.

    An n-gram is named with the first event learned that has it, once its bucket has a row. All those of a bucket are,
    so that what collides can be seen; of several with the same 32 bits of hash only the first is.

    limit : how many are named at most; what came before stays. It may differ from run to run.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._count = 0
        self._make(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.uint8))

    def __len__(self) -> int:
        return self._count

    @property
    def is_full(self) -> bool:
        """Whether no more are named."""
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
        """Name what n rows of a step bring, in stream order.

        sources : int64[n], the event of the batches, one behind the other, that each row is.
        learned : bool[n]. rows_before : int64[n], as in `Examples`; index : as it is behind all of them.
        """
        if not learned.any():
            return
        from streamlin.features.naming import note_rows

        rows_after = np.append(rows_before[1:], len(index))
        data, lengths, pieces, named, name_lengths = view.octets(batches)
        ascii_table, table, least, characters, shortest, longest, _, bits = view.how
        octets, starts, ends = write_tokens(data, lengths, ascii_table, table, least)
        name_ends = np.append(0, np.cumsum(name_lengths))
        row = 0
        while row < sources.size and not self.is_full:
            row, self._count = note_rows(
                row,
                sources,
                learned,
                rows_after,
                octets,
                starts,
                np.append(0, ends),
                pieces,
                named,
                name_ends,
                characters,
                shortest,
                longest,
                bits,
                index.row_of,
                self.limit,
                self._slots,
                self._hashes,
                self._ends,
                self._octets,
                self._count,
            )
            if row < sources.size and not self.is_full:
                self._make(*self._used())

    def of_buckets(self, buckets: Collection[int], bits: int) -> dict[int, list[str]]:
        """The names of some buckets, in order of first sight; none of a bucket that has none."""
        hashes, ends, octets = self._used()
        found: dict[int, list[str]] = {}
        places = buckets_of(hashes, bits)
        for i in np.flatnonzero(np.isin(places, np.array(list(buckets), np.int64))).tolist():
            name = octets[ends[i - 1] if i else 0 : ends[i]].tobytes()
            found.setdefault(int(places[i]), []).append(name.decode("utf-8", "surrogatepass"))
        return found

    def state(self) -> dict[str, NDArray[Any]]:
        """hashes int32[n], ends int64[n], octets uint8[m], if n > 0: name i is `octets[ends[i - 1]:ends[i]]`."""
        hashes, ends, octets = self._used()
        return {"hashes": hashes, "ends": ends, "octets": octets} if self._count else {}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Take what `state` gave."""
        if state:
            self._count = state["hashes"].size
            self._make(state["hashes"], state["ends"], state["octets"])

    def _used(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint8]]:
        ends = self._ends[: self._count]
        return self._hashes[: self._count], ends, self._octets[: ends[-1] if ends.size else 0]

    def _make(self, hashes: NDArray[np.int32], ends: NDArray[np.int64], octets: NDArray[np.uint8]) -> None:
        """Arrays that hold these names; with room for twice as many, if there are to be more."""
        room = hashes.size if self.is_full else 2 * max(hashes.size, _SMALLEST)
        self._hashes, self._ends = np.zeros(room, np.int32), np.zeros(room, np.int64)
        self._octets = np.zeros(octets.size if self.is_full else 2 * octets.size + 32 * _SMALLEST, np.uint8)
        self._hashes[: hashes.size], self._ends[: ends.size], self._octets[: octets.size] = hashes, ends, octets
        self._slots = np.zeros(0 if self.is_full else 2 << (room - 1).bit_length(), np.int32)
        if self._slots.size:
            from streamlin.features.naming import fill_slots

            fill_slots(hashes, self._slots)


def is_name_of(name: str, ngram: str) -> bool:
    """Whether an n-gram has this name, cut or not."""
    return name == ngram or (name.endswith("…") and ngram.startswith(name[:-1]))
