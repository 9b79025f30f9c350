"""Hashes batches of texts, or of named features, into buckets with values."""

import math

import numpy as np
from numpy.typing import NDArray

from streamlin.features.forms import write_form, write_units
from streamlin.features.memo import ABSENT, Memo, place_of, recall, remember
from streamlin.features.murmur3 import murmur3_32
from streamlin.features.ngrams import append_ngrams, append_words, bucket_of
from streamlin.features.python_hashing import hash_texts_in_python
from streamlin.features.sums import BINARY, LOG, sum_repeats
from streamlin.features.token_hashes import hash_written
from streamlin.features.tokens import character_bounds, find_tokens, join_tokens, write_tokens
from streamlin.kernel import kernel
from streamlin.kernel.late import beside, late_kernel
from streamlin.kernel.unowned import hold, unowned


@late_kernel
@beside(hash_texts_in_python)
def hash_texts(
    data: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    pieces: NDArray[np.int64],
    names: NDArray[np.uint8],
    name_lengths: NDArray[np.int64],
    ascii_ranges: NDArray[np.uint8],
    unicode_table: NDArray[np.uint8],
    min_length: int,
    form: int | None,
    shortest: int,
    longest: int,
    scale: int,
    bits: int,
    memo: Memo | None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Features of n events: indptr int64[n + 1], buckets int32[>= nnz], values float32[>= nnz].

    data, lengths int64[m], ascii_ranges, unicode_table, min_length : pieces of text and how to tokenize them, see
        `write_tokens`.
    pieces : int64[n + 1]; event i has the pieces `pieces[i]` to `pieces[i + 1]`.
    names, name_lengths int64[n * k] : the UTF-8 of each event's k categories; length 0 where a category is missing.
    form, memo : None and None for n-grams of a piece's tokens; None and a memo for n-grams of the characters of each
        token, padded with a blank on both sides (a token that is shorter than the shortest n-gram is one n-gram); or a
        form of `forms.py`, whose features are n-grams of length 1, and None. What is None is not compiled.
    scale : BINARY (always 1), COUNTS, or LOG, log(1 + count).
    memo : of tokens that were cut by these very parameters; changed in place.
    """
    if form is None and memo is None:
        tables = ascii_ranges, unicode_table
        return _features_of_words(
            data, lengths, pieces, names, name_lengths, tables, min_length, shortest, longest, scale, bits
        )
    units = write_units(data, lengths, ascii_ranges, unicode_table, min_length, form)
    return _features(units, pieces, names, name_lengths, shortest, longest, scale, bits, memo)


@kernel
def hash_texts_and_tokens(
    data: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    pieces: NDArray[np.int64],
    names: NDArray[np.uint8],
    name_lengths: NDArray[np.int64],
    ascii_ranges: NDArray[np.uint8],
    unicode_table: NDArray[np.uint8],
    min_length: int,
    form: int | None,
    shortest: int,
    longest: int,
    scale: int,
    bits: int,
    memo: Memo | None,
) -> tuple[
    tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]], tuple[NDArray[np.int64], NDArray[np.uint64]]
]:
    """What `hash_texts` returns, and the tokens that the features are of, see `hash_written`."""
    tokens = write_tokens(data, lengths, ascii_ranges, unicode_table, min_length)
    units = write_form(tokens, unicode_table, form)
    features = _features(units, pieces, names, name_lengths, shortest, longest, scale, bits, memo)
    return features, hash_written(tokens, pieces)


@kernel
def _features_of_words(
    data: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    pieces: NDArray[np.int64],
    names: NDArray[np.uint8],
    name_lengths: NDArray[np.int64],
    tables: tuple[NDArray[np.uint8], NDArray[np.uint8]],
    min_length: int,
    shortest: int,
    longest: int,
    scale: int,
    bits: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """See `hash_texts`: n-grams of a piece's tokens. One piece after the other, so that its tokens are in a cache.

    Single words are hashed where they are found; for longer n-grams the words of a piece are joined.
    """
    n = pieces.size - 1
    k = name_lengths.size // max(n, 1)
    room = np.empty(data.size + 1, np.uint8), np.empty(data.size + 1, np.int64)
    joined, starts = np.empty(data.size + 1, np.uint8), np.empty(data.size, np.int64)
    starts[0] = 0
    most = (data.size + lengths.size) // 2 * (longest - shortest + 1) + name_lengths.size
    buckets = np.empty(most, np.int32)  # what is not used is never touched
    indptr = np.zeros(n + 1, np.int64)
    text, (written, edges), tables = unowned(data), unowned(room), unowned(tables)
    count = name_end = np.int64(0)
    end = int(np.int64(0))
    for i in range(n):
        for piece in range(pieces[i], pieces[i + 1]):
            begin, end = end, end + int(lengths[piece])
            n_edges = find_tokens(text, begin, end, *tables, min_length, written, edges)
            if longest == 1:
                count = append_words(written, edges, n_edges, min_length, bits, buckets, count)
            else:
                units = join_tokens(written, edges, n_edges, min_length, joined, starts, 0)
                count = append_ngrams(joined, starts[: units + 1], 1, shortest, longest, bits, buckets, count)
        count, name_end = _append_names(names, name_lengths, i * k, (i + 1) * k, name_end, bits, buckets, count)
        indptr[i + 1] = count
    hold(room)
    values = np.ones(count, np.float32)
    sum_repeats(indptr, buckets, values, bits)
    _scale(values, scale)
    return indptr, buckets, values


@kernel
def _append_names(
    names: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    first: int,
    after: int,
    end: np.int64,
    bits: int,
    buckets: NDArray[np.int32],
    count: np.int64,
) -> tuple[np.int64, np.int64]:
    """Append the buckets of an event's categories, the first of which is at `end`; returns the new count and end."""
    for name in range(first, after):
        begin, end = end, end + lengths[name]
        if begin < end:
            buckets[count] = bucket_of(names, begin, end, bits)
            count += 1
    return count, end


@kernel
def _features(
    tokens: tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]],
    pieces: NDArray[np.int64],
    names: NDArray[np.uint8],
    name_lengths: NDArray[np.int64],
    shortest: int,
    longest: int,
    scale: int,
    bits: int,
    memo: Memo | None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """See `hash_texts`. tokens : what `write_units` returns."""
    token_bytes, starts, ends = tokens
    n = pieces.size - 1
    k = name_lengths.size // max(n, 1)
    units = ends[-1] if ends.size else 0
    if memo is not None:
        units += starts[units]
    buckets = np.empty(units * (longest - shortest + 1) + name_lengths.size, np.int32)
    indptr = np.zeros(n + 1, np.int64)
    count = after = name_end = np.int64(0)
    for i in range(n):
        for piece in range(pieces[i], pieces[i + 1]):
            first, after = after, ends[piece]
            of_tokens = starts[first : after + 1]
            if memo is None:
                count = append_ngrams(token_bytes, of_tokens, 1, shortest, longest, bits, buckets, count)
            else:
                count = _append_characters(token_bytes, of_tokens, shortest, longest, bits, memo, buckets, count)
        count, name_end = _append_names(names, name_lengths, i * k, (i + 1) * k, name_end, bits, buckets, count)
        indptr[i + 1] = count
    values = np.ones(count, np.float32)
    sum_repeats(indptr, buckets, values, bits)
    _scale(values, scale)
    return indptr, buckets, values


@kernel
def _append_characters(
    token_bytes: NDArray[np.uint8],
    starts: NDArray[np.int64],
    shortest: int,
    longest: int,
    bits: int,
    memo: Memo,
    buckets: NDArray[np.int32],
    count: np.int64,
) -> np.int64:
    """Append the buckets of the n-grams of characters of each token, see `append_ngrams`; returns the new count."""
    n = starts.size - 1
    bounds = np.empty(starts[n] - starts[0] + 2, np.int64)
    for token in range(n):
        begin, end = starts[token], starts[token + 1] - 1
        place = place_of(memo, token_bytes, begin, end)
        known = np.int64(ABSENT)
        if place != ABSENT:
            known = recall(memo, place, token_bytes, begin, end, buckets, count)
        if known != ABSENT:
            count = known
            continue
        before = count
        inside = character_bounds(token_bytes, begin - 1, end + 1, bounds)
        least_here = min(shortest, inside.size - 1)
        count = append_ngrams(token_bytes, inside, 0, least_here, longest, bits, buckets, count)
        if place != ABSENT:
            remember(memo, place, token_bytes, begin, end, buckets[before:count])
    return count


@kernel
def _scale(values: NDArray[np.float32], scale: int) -> None:
    if scale == BINARY:
        for entry in range(values.size):
            values[entry] = 1.0
    elif scale == LOG:
        for entry in range(values.size):
            values[entry] = math.log(1.0 + values[entry])


@kernel
def hash_names(
    names: NDArray[np.uint8],
    name_lengths: NDArray[np.int64],
    values: NDArray[np.float32],
    indptr: NDArray[np.int64],
    bits: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Features given by name, of n mappings: indptr int64[n + 1], buckets int32[>= nnz], values float32[>= nnz].

    names, name_lengths : the UTF-8 of all names. values, indptr : mapping i has the entries `indptr[i]` to
        `indptr[i + 1]`; both are changed in place.
    """
    buckets = np.empty(values.size, np.int32)
    end = np.int64(0)
    for name in range(values.size):
        begin, end = end, end + name_lengths[name]
        buckets[name] = bucket_of(names, begin, end, bits)
    sum_repeats(indptr, buckets, values, bits)
    return indptr, buckets, values


@kernel
def hash_ranges(data: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int32]:
    """int32[n]: the murmur3 hash of each `data[begins[i]:ends[i]]`."""
    hashes = np.empty(begins.size, np.int32)
    for i in range(begins.size):
        hashes[i] = murmur3_32(data, begins[i], ends[i])
    return hashes
