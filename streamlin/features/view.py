"""A view of the texts: what the configuration calls `[features.words]`."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.config import ViewConfig
from streamlin.errors import ConfigError, RecordError
from streamlin.events import Batch
from streamlin.features.characters import ascii_characters, token_characters
from streamlin.features.hashing import BINARY, COUNTS, LOG, hash_named, hash_texts
from streamlin.features.masks import masked
from streamlin.features.sums import sum_repeats
from streamlin.kernel.byte_buffers import joined, padded

_DEFAULT = ViewConfig()
_SCALES = {"binary": BINARY, "counts": COUNTS, "log": LOG}
_LARGEST = float(np.finfo(np.float32).max)


class Buckets(NamedTuple):
    """Features of n events; in each by order of first occurrence, one entry a bucket.

    indptr : int64[n + 1]; event i has entries `indptr[i]` to `indptr[i + 1]`.
    buckets : int32[nnz], in [0, 2^bits).
    values : float32[nnz].
    """

    indptr: NDArray[np.int64]
    buckets: NDArray[np.int32]
    values: NDArray[np.float32]

    def take(self, events: NDArray[np.int64]) -> "Buckets":
        """Those of some events, in the order given."""
        lengths = np.diff(self.indptr)[events]
        indptr = np.zeros(events.size + 1, np.int64)
        np.cumsum(lengths, out=indptr[1:])
        entries = np.repeat(self.indptr[events] - indptr[:-1], lengths) + np.arange(indptr[-1])
        return Buckets(indptr, self.buckets[entries], self.values[entries])


class View:
    """Texts to hashed features; without state, so a text has the same ones whenever and with whom it comes.

    A text is lower-cased, masked, cut into tokens, and these into n-grams; an n-gram g, its words joined by one
    blank, counts in bucket |murmur3(g)| mod 2^bits.

    Parameters
    ----------
    config : tokens, n-grams, values, masks.
    bits : 1 to 31.
    categories : fields of which each value is a feature too, `field=value`, case kept.

    Raises
    ------
    ConfigError : `bits` is out of range.
    """

    def __init__(self, config: ViewConfig = _DEFAULT, bits: int = 20, categories: Sequence[str] = ()) -> None:
        if not 1 <= bits <= 31:
            raise ConfigError(f"features.bits must be 1 to 31, got {bits}")
        self.config, self.bits, self.categories = config, bits, tuple(categories)
        self._is_plain = not config.masks
        self.how: tuple[Any, ...] = (
            ascii_characters(config.tokens, config.lowercase),
            token_characters(config.tokens),
            2 if config.tokens == "scikit-learn" else 1,
            int(config.tokens == "char_wb"),  # a number enters compiled code faster
            *config.ngrams,
            _SCALES[config.values],
            bits,
        )

    def __repr__(self) -> str:
        categories = f", categories={self.categories}" if self.categories else ""
        return f"View({self.config!r}, bits={self.bits}{categories})"

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is made anew: its tables of characters are a megabyte."""
        return type(self), (self.config, self.bits, self.categories)

    def buckets(self, batch: Batch) -> Buckets:
        """Features of a batch's events, their categories among them."""
        pieces = np.arange(len(batch) + 1) if batch.pieces is None else batch.pieces
        return self._hashed(batch.texts, pieces, self._named(batch))

    def octets(self, batches: Sequence[Batch]) -> tuple[NDArray[Any], ...]:
        """Of the events of some batches, one behind the other, what `hash_texts` begins with; `how` is the rest."""
        pieces, before = [np.zeros(1, np.int64)], 0
        for batch in batches:
            own = np.arange(len(batch) + 1) if batch.pieces is None else batch.pieces
            pieces.append(before + own[1:])
            before += len(batch.texts)
        texts = [text for batch in batches for text in batch.texts]
        named = [name for batch in batches for name in self._named(batch)]
        data, lengths = joined(self._prepared(texts))
        return data, lengths, np.concatenate(pieces), *joined(named)

    def of_texts(self, texts: Sequence[str]) -> Buckets:
        """Features of texts alone."""
        return self._hashed(texts, np.arange(len(texts) + 1), ())

    def of_mappings(self, mappings: Sequence[Mapping[str, float]]) -> Buckets:
        """Features given by name; names are hashed and values taken as they are, those of 0 left out.

        Raises
        ------
        RecordError : a value is no number, or not finite in float32.
        """
        given = [[item for item in mapping.items() if _is_feature(*item)] for mapping in mappings]
        names = [name for items in given for name, _ in items]
        values = np.array([value for items in given for _, value in items], np.float32)
        indptr = np.array([0, *accumulate(map(len, given))])
        return _trimmed(*hash_named(*joined(names), values, indptr, self.bits))

    def of_columns(self, names: Sequence[str], entries: Buckets) -> Buckets:
        """The same of a table: entry j is the feature `names[entries.buckets[j]]`. `entries` is changed."""
        indptr, columns, values = entries
        buckets_of = hash_named(*joined(names), np.ones(len(names), np.float32), np.arange(len(names) + 1), self.bits)[
            1
        ]
        buckets = buckets_of[columns]
        sum_repeats(indptr, buckets, values, self.bits)
        return _trimmed(indptr, buckets, values)

    def padded(self, text: str) -> bytearray:
        """Of a text alone, what is hashed."""
        return padded(text if self._is_plain and text.isascii() else self._prepared([text])[0])

    def _hashed(self, texts: Sequence[str], pieces: NDArray[np.int64], named: Sequence[str]) -> Buckets:
        return _trimmed(*hash_texts(*joined(self._prepared(texts)), pieces, *joined(named), *self.how))

    def _prepared(self, texts: Sequence[str]) -> Sequence[str]:
        """Lower-cased, but for ASCII, which the kernel does; then masked."""
        if self.config.lowercase and not "".join(texts).isascii():
            texts = [text if text.isascii() else text.lower() for text in texts]
        return masked(texts, self.config.masks)

    def _named(self, batch: Batch) -> list[str]:
        """`field=value` of each event's categories, event by event; empty where there is no value."""
        columns = [
            ["" if value is None else f"{name}={value}" for value in batch.extra[name]] for name in self.categories
        ]
        return [named for row in zip(*columns, strict=True) for named in row]


def _is_feature(name: str, value: float) -> bool:
    if not (isinstance(value, Real) and abs(value) <= _LARGEST):
        raise RecordError(f"feature '{name}' is {value!r}; it must be a finite number in float32")
    return value != 0


def _trimmed(indptr: NDArray[np.int64], buckets: NDArray[np.int32], values: NDArray[np.float32]) -> Buckets:
    return Buckets(indptr, buckets[: indptr[-1]], values[: indptr[-1]])
