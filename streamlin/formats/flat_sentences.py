"""The columns of a batch of sentences from JSON objects with lists, straight from their bytes; see `flat_lists`."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from streamlin.config import FieldsConfig
from streamlin.events import Batch, CodedTexts, Distinct, Records, TokenColumns
from streamlin.formats.flat_columns import Places, are_names, distinct, ids_of, objects, room, texts_of
from streamlin.formats.flat_json import ESCAPED, MISSING
from streamlin.formats.flat_lists import find_lists
from streamlin.formats.utf8 import Indices
from streamlin.kernel.byte_buffers import concatenate
from streamlin.kernel.decorator import is_kept

_ID, *_OTHERS = range(4)
_TOKENS, _TAGS = range(2)
FIRST = 4_000
"""Records that are left to the other decoder while the kernels are not compiled yet: a short run need not wait."""


class FlatSentences:
    """Reads batches of objects with lists of tokens, and perhaps of tags and further columns, and an id.

    fields : their keys, no dotted paths.
    """

    def __init__(self, fields: FieldsConfig) -> None:
        self._columns, self._read = fields.columns, 0
        self._keys, self._bounds = concatenate([name.encode() for name in _names(fields)])

    @staticmethod
    def suits(fields: FieldsConfig, extra: Sequence[str]) -> bool:
        """Whether the fields can be read so: one text at most, no nested fields, no further ones."""
        return len(fields.text) == 1 and not extra and not any("." in name for name in _names(fields))

    def batch(self, records: Records, kept: Indices) -> Batch | None:
        """The sentences of records as any decoder of JSON would give them; None where this one leaves that to another.

        Raises
        ------
        DecodeError : a record is not UTF-8.
        """
        self._read += kept.size
        found = objects(records, kept) if self._read > FIRST or is_kept(find_lists) else None
        return None if found is None else self._found(*found, records, kept)

    def _found(
        self, data: NDArray[np.uint8], starts: Indices, ends: Indices, records: Records, kept: Indices
    ) -> Batch | None:
        fields = room(1 + len(_OTHERS), kept.size)
        items = room(2 + len(self._columns), int((ends - starts).sum()) // 3)
        bounds = np.empty(kept.size + 1, np.int64)
        size = find_lists(data, starts, ends, self._keys, self._bounds, *fields, *items, bounds)
        if size < 0 or not _fit(fields[2], items[2][:, :size]):
            return None

        def places(row: int) -> Places:
            begins, stops, kinds = items
            return begins[row, :size], stops[row, :size], kinds[row, :size]

        names, codes = distinct(data, *places(_TAGS))
        columns = {name: texts_of(data, *places(number)) for number, name in enumerate(self._columns, start=2)}
        return Batch(
            ids=ids_of(data, fields[0][_ID], fields[1][_ID], fields[2][_ID]),
            texts=texts_of(data, *places(_TOKENS)),
            labels=[None] * kept.size,
            weights=np.ones(kept.size),
            times=np.full(kept.size, np.nan),
            extra={},
            records=records,
            kept=kept,
            pieces=bounds,
            tokens=TokenColumns(CodedTexts(Distinct(names, codes)), columns),
        )


def _names(fields: FieldsConfig) -> tuple[str, ...]:
    """The keys: of values, in the order of `_ID` and `_OTHERS`, then of lists."""
    return fields.id, *fields.text, fields.weight, fields.time, fields.tokens, fields.tags, *fields.columns


def _fit(kinds: NDArray[np.uint8], items: NDArray[np.uint8]) -> bool:
    """Whether all values are of kinds that can be read here; an error in one is for the other decoder to name."""
    fields_fit = not kinds[_OTHERS].any() and are_names(kinds[_ID])
    return fields_fit and not (items[_TOKENS] == MISSING).any() and not (items[_TAGS] == ESCAPED).any()
