"""A view of the texts, as configured by a table such as `[features.words]`."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.config import ViewConfig
from streamlin.errors import ConfigError, RecordError
from streamlin.events import Batch
from streamlin.features.characters import ascii_ranges, token_characters
from streamlin.features.forms import CHARACTERS, FIRST, FORMS, FURTHER, HEAD, TOKENS
from streamlin.features.hashing import hash_names, hash_texts, hash_texts_and_tokens
from streamlin.features.masks import masked
from streamlin.features.memo import Memo, new_memo
from streamlin.features.normalization import normalized
from streamlin.features.sums import BINARY, COUNTS, LOG, sum_repeats
from streamlin.features.token_hashes import TokenHashes
from streamlin.kernel.byte_buffers import Utf8Texts, change_beyond_ascii, encode_text, encode_texts
from streamlin.kernel.ranges import bounds_of, copy_ranges

_DEFAULT = ViewConfig()
_SCALES = {"binary": BINARY, "counts": COUNTS, "log": LOG}
_NO_MEMO, _LARGE = new_memo(0), 1 << 16
_LARGEST = float(np.finfo(np.float32).max)


class Buckets(NamedTuple):
    """Features of n events: one entry per bucket and event, in order of first occurrence.

    indptr : int64[n + 1]; event i has entries `indptr[i]` to `indptr[i + 1]`.
    buckets : int32[nnz], in [0, 2^bits).
    values : float32[nnz].
    """

    indptr: NDArray[np.int64]
    buckets: NDArray[np.int32]
    values: NDArray[np.float32]

    def take(self, events: NDArray[np.int64]) -> "Buckets":
        """The features of some events, in the order given."""
        indptr = bounds_of(self.indptr, events)
        own = Buckets(indptr, np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32))
        copy_ranges(self.buckets, self.indptr, events, indptr, own.buckets)
        copy_ranges(self.values, self.indptr, events, indptr, own.values)
        return own


class View:
    """Turns texts into hashed features. It has no state: a text always has the same features.

    A text is normalized if configured, lower-cased, masked and split into tokens, of which n-grams are formed. An
    n-gram g, its words joined by single blanks, counts in bucket |murmur3(g)| mod 2^bits; so does a feature of
    another form (`forms.py`).

    Parameters
    ----------
    config : normalization, tokens, n-grams, values, masks.
    bits : 1 to 31.
    categories : fields whose value is a feature too, `field=value`, case kept.

    Raises
    ------
    ConfigError : `bits` is out of range.
    """

    def __init__(self, config: ViewConfig = _DEFAULT, bits: int = 20, categories: Sequence[str] = ()) -> None:
        if not 1 <= bits <= 31:
            raise ConfigError(f"features.bits must be 1 to 31, got {bits}")
        self.config, self.bits, self.categories = config, bits, tuple(categories)
        self.form = FORMS.get(config.tokens, TOKENS)
        self._needs_python = bool(config.masks) or self.form == HEAD
        self._memos: list[Memo] = []
        self.hash_options: tuple[Any, ...] = (
            ascii_ranges(config.tokens, config.lowercase),
            token_characters(config.tokens),
            2 if config.tokens == "scikit-learn" else 1,
            self.form if self.form >= FIRST else None,
            *config.ngrams,
            _SCALES[config.values],
            bits,
            _NO_MEMO if self.form == CHARACTERS else None,
        )

    def __repr__(self) -> str:
        categories = f", categories={self.categories}" if self.categories else ""
        return f"View({self.config!r}, bits={self.bits}{categories})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the parameters only: the character tables take a megabyte."""
        return type(self), (self.config, self.bits, self.categories)

    @property
    def takes_words(self) -> bool:
        """Whether a word or phrase by itself is a feature, so that it can be set by hand."""
        return self.form < FIRST

    def most_features(self, characters: int, pieces: int) -> int:
        """An upper bound of the features of pieces of text with so many characters in all, each with its categories.

        A word and the separator behind it are two characters at least; the n-grams of characters of a word with n
        letters are at most n + 2 of each length. Lower case may be twice as long, and the form NFKC 18 times.
        """
        shortest, longest = self.config.ngrams
        characters *= (18 if self.config.normalize else 1) * (2 if self.config.lowercase else 1)
        lengths, others = (longest - shortest + 1, 0) if self.form < FIRST else (1, FURTHER)
        return 2 * lengths * (characters + pieces) + pieces * (others + len(self.categories))

    def buckets(self, batch: Batch) -> Buckets:
        """The features of a batch's events, categories included."""
        if batch.values is not None and batch.pieces is not None:
            return self._valued(batch, batch.pieces, batch.values)
        pieces = np.arange(len(batch) + 1) if batch.pieces is None else batch.pieces
        return self._hashed(batch.texts, pieces, self._category_names(batch))

    def buckets_and_tokens(self, batch: Batch) -> tuple[Buckets, TokenHashes]:
        """The features of a batch's events, and the tokens that they are of, without categories."""
        pieces = np.arange(len(batch) + 1) if batch.pieces is None else batch.pieces
        encoded = *encode_texts(self._normalized(batch.texts)), pieces, *encode_texts(self._category_names(batch))
        features, tokens = hash_texts_and_tokens(*encoded, *self.hash_options)
        valued = batch.values is not None
        return self.buckets(batch) if valued else _trimmed(*features), TokenHashes(*tokens)

    def encode_batches(self, batches: Sequence[Batch]) -> tuple[NDArray[Any], ...]:
        """The first five arguments of `hash_texts` for the events of all batches; `hash_options` are the others."""
        pieces, before = [np.zeros(1, np.int64)], 0
        for batch in batches:
            own = np.arange(len(batch) + 1) if batch.pieces is None else batch.pieces
            pieces.append(before + own[1:])
            before += len(batch.texts)
        filled = [batch.texts for batch in batches if len(batch.texts)]
        texts = filled[0] if len(filled) == 1 else [text for own in filled for text in own]
        named = [name for batch in batches for name in self._category_names(batch)]
        data, lengths = encode_texts(self._normalized(texts))
        return data, lengths, np.concatenate(pieces), *encode_texts(named)

    def of_texts(self, texts: Sequence[str]) -> Buckets:
        """The features of texts without categories."""
        return self._hashed(texts, np.arange(len(texts) + 1), ())

    def of_mappings(self, mappings: Sequence[Mapping[str, float]]) -> Buckets:
        """Features given by name: names are hashed, values used as they are, and values of 0 left out.

        Raises
        ------
        RecordError : a value is not a number, or not finite in float32.
        """
        given = [[item for item in mapping.items() if _is_feature(*item)] for mapping in mappings]
        names = [name for items in given for name, _ in items]
        values = np.array([value for items in given for _, value in items], np.float32)
        indptr = np.array([0, *accumulate(map(len, given))])
        return _trimmed(*hash_names(*encode_texts(names), values, indptr, self.bits))

    def of_columns(self, names: Sequence[str], entries: Buckets) -> Buckets:
        """Features of a table with named columns: entry j is `names[entries.buckets[j]]`. `entries` is changed."""
        indptr, columns, values = entries
        ones, one_each = np.ones(len(names), np.float32), np.arange(len(names) + 1)
        _, bucket_of, _ = hash_names(*encode_texts(names), ones, one_each, self.bits)
        buckets = bucket_of[columns]
        sum_repeats(indptr, buckets, values, self.bits)
        return _trimmed(indptr, buckets, values)

    def encode_one(self, text: str) -> bytearray:
        """The UTF-8 of one text as it is hashed, followed by PADDING."""
        return encode_text(text if not self._needs_python and text.isascii() else self._normalized([text])[0])

    def _hashed(self, texts: Sequence[str], pieces: NDArray[np.int64], named: Sequence[str]) -> Buckets:
        encoded = *encode_texts(self._normalized(texts)), pieces, *encode_texts(named)
        if self.form != CHARACTERS or (encoded[0].size < _LARGE and not self._memos):  # not worth making a memo
            return _trimmed(*hash_texts(*encoded, *self.hash_options))
        memo = self._take_memo()
        features = hash_texts(*encoded, *(*self.hash_options[:-1], memo))
        self._memos.append(memo)
        return _trimmed(*features)

    def _take_memo(self) -> Memo:
        """A memo that no thread uses now."""
        try:
            return self._memos.pop()
        except IndexError:  # another thread uses it
            return new_memo()

    def _valued(self, batch: Batch, pieces: NDArray[np.int64], piece_values: NDArray[np.float32]) -> Buckets:
        """The features of events whose pieces have values: each piece's own features times its value, then summed."""
        names = [""] * (len(self.categories) * len(batch.texts))
        for number, name in enumerate(self._category_names(batch)):  # those of an event belong to its first piece
            event, category = divmod(number, len(self.categories))
            names[int(pieces[event]) * len(self.categories) + category] = name
        bounds, buckets, values = self._hashed(batch.texts, np.arange(len(batch.texts) + 1), names)
        values *= np.repeat(piece_values, np.diff(bounds))
        indptr = bounds[pieces]
        sum_repeats(indptr, buckets, values, self.bits)
        return _trimmed(indptr, buckets, values)

    def _normalized(self, texts: Sequence[str]) -> Sequence[str]:
        """What is read of the texts, in NFKC if configured, lower-cased (ASCII ones by the kernel), then masked."""
        if self.form == HEAD:
            texts = _first_lines(texts)
        if self.config.normalize:
            texts = change_beyond_ascii(texts, _normalized_lower if self.config.lowercase else normalized)
        elif self.config.lowercase:
            texts = change_beyond_ascii(texts, str.lower)
        return masked(texts, self.config.masks, self.config.tokens)

    def _category_names(self, batch: Batch) -> list[str]:
        """`field=value` for each event's categories, event by event; empty where a value is missing."""
        columns = [
            ["" if value is None else f"{name}={value}" for value in batch.extra[name]] for name in self.categories
        ]
        return [named for row in zip(*columns, strict=True) for named in row]


def _normalized_lower(text: str) -> str:
    return normalized(text).lower()


def _first_lines(texts: Sequence[str]) -> Sequence[str]:
    if isinstance(texts, Utf8Texts):
        return texts.changed(texts.having((texts.octets == ord("\n")).view(np.uint8)), first_line)
    return [first_line(text) for text in texts]


def first_line(text: str) -> str:
    """The text as far as the end of its first line that is not empty."""
    end = text.find("\n", len(text) - len(text.lstrip()))
    return text if end < 0 else text[:end]


def _is_feature(name: str, value: float) -> bool:
    if not (isinstance(value, Real) and abs(value) <= _LARGEST):
        raise RecordError(f"feature '{name}' is {value!r}; it must be a finite number in float32")
    return value != 0


def _trimmed(indptr: NDArray[np.int64], buckets: NDArray[np.int32], values: NDArray[np.float32]) -> Buckets:
    return Buckets(indptr, buckets[: indptr[-1]], values[: indptr[-1]])
