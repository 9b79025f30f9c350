"""Kernels of an online bigram language model: its tables, the bits of texts, and learning.

A word has a row, in order of first sight; row 0 is the start of a text, which is a context only. A pair of neighbours
has a row too. The hashes of words, and the pairs of rows, are found through slots of open addressing with linear
probing (Knuth, TAOCP 3, 6.4, algorithm L); a row keeps its key, so that no two keys share a count.

Large tables are seldom in a cache. So a slot has bits of the key beside its row, which tell most unknown keys without
a look at a row; and the rows of all words of a text are found first, then those of all pairs, so that the processor
waits for several of them at once.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel

KNESER_NEY, WITTEN_BELL = 0, 1
KEY, COUNT = 0, 1
"""Columns of both tables: the key, and how often it was seen."""
FOLLOWED, FOLLOWERS, PRECEDERS = 2, 3, 4
"""Further columns of words: how often another word followed it; how many different words followed and preceded it."""
WORDS, PAIRS, TOKENS, ONCE, TWICE, AFTER_ONE, AFTER_TWO = range(7)
"""Numbers: rows of words and pairs; tokens learned; pairs seen once, and twice; words behind one, and two, others."""
_LEAST, _MOST = 0.1, 0.9
_MIX = np.uint64(0x9E3779B97F4A7C15)
_TAG = np.int64(0x7FFFFFFF00000000)
_ROW = np.int64(0x00000000FFFFFFFF)
_SMALL = 1e-200
_LN2 = math.log(2.0)


class Tables(NamedTuple):
    """What is counted.

    words : int64[>= n, 5]. pairs : int64[>= n, 2]. numbers : int64[7].
    word_slots, pair_slots : int64[2^k], the row of each key below 31 bits of its hash, -1 where there is none; at most
        half of them are in use.
    """

    words: NDArray[np.int64]
    pairs: NDArray[np.int64]
    numbers: NDArray[np.int64]
    word_slots: NDArray[np.int64]
    pair_slots: NDArray[np.int64]


class Scratch(NamedTuple):
    """The rows of the words of a text, and of the pairs that they end, -1: of none; int64[>= m]."""

    words: NDArray[np.int64]
    pairs: NDArray[np.int64]


@kernel
def mixed(key: int) -> int:
    """A hash whose bits all depend on the key."""
    product = np.uint64(key) * _MIX
    return int(np.int64(product ^ (product >> np.uint64(32))))


@kernel
def slot_of(key: int, rows: NDArray[np.int64], slots: NDArray[np.int64]) -> int:
    """The slot of a key, or the free one where it belongs."""
    hashed, mask = mixed(key), slots.size - 1
    slot, tag = hashed & mask, hashed & _TAG
    while slots[slot] >= 0 and ((slots[slot] & _TAG) != tag or rows[slots[slot] & _ROW, KEY] != key):
        slot = (slot + 1) & mask
    return slot


@kernel
def row_of(key: int, rows: NDArray[np.int64], slots: NDArray[np.int64]) -> int:
    """The row of a key; -1: it has none."""
    found = slots[slot_of(key, rows, slots)]
    return int(found & _ROW) if found >= 0 else -1


@kernel
def give_row(key: int, row: int, rows: NDArray[np.int64], slots: NDArray[np.int64]) -> bool:
    """Give a key its row; False if it has one already."""
    slot = slot_of(key, rows, slots)
    is_new = bool(slots[slot] < 0)
    rows[row, KEY] = key
    slots[slot] = (mixed(key) & _TAG) | row
    return is_new


@kernel
def fill_slots(rows: NDArray[np.int64], first: int, n: int, slots: NDArray[np.int64]) -> bool:
    """Set the slots of rows `first` to n; returns False if two have the same key."""
    slots[:] = -1
    unique = True
    for row in range(first, n):
        unique &= give_row(rows[row, KEY], row, rows, slots)
    return unique


@kernel
def pair_key(first: int, second: int) -> int:
    """Of the pair of two rows."""
    return first << 32 | second


@kernel
def discount(once: int, twice: int) -> float:
    """D = n1 / (n1 + 2 n2), between 0.1 and 0.9."""
    if once == 0:
        return _LEAST
    return min(_MOST, max(_LEAST, once / (once + 2.0 * twice)))


@kernel
def word_shares(model: int, numbers: NDArray[np.int64]) -> tuple[float, float, float]:
    """a, b and c of P(w) = (n - a) / b, where n counts a known word, and c of one that is not known yet.

    n is how many different words preceded it, or with Witten-Bell how often it was seen.
    """
    known = numbers[WORDS] - 1.0
    if known == 0.0:
        return 0.0, 1.0, 1.0
    if model == WITTEN_BELL:
        total, unseen = numbers[TOKENS] + known, known / (known + 1.0)
        return -unseen, total, unseen / total
    d = discount(numbers[AFTER_ONE], numbers[AFTER_TWO])
    spread = d * known / (known + 1.0)
    return d - spread, float(numbers[PAIRS]), spread / numbers[PAIRS]


@kernel
def find_rows(hashes: NDArray[np.int64], tables: Tables, scratch: Scratch) -> None:
    """Set the rows of the words of a text, and of their pairs."""
    for token in range(hashes.size):
        scratch.words[token] = row_of(hashes[token], tables.words, tables.word_slots)
    before = 0
    for token in range(hashes.size):
        word = int(scratch.words[token])
        known = before >= 0 and word >= 0
        scratch.pairs[token] = row_of(pair_key(before, word), tables.pairs, tables.pair_slots) if known else -1
        before = word


@kernel
def bits_of(model: int, n_tokens: int, tables: Tables, scratch: Scratch) -> float:
    """-log2 P of the words of a text, all by the counts before it."""
    words, pairs, numbers = tables.words, tables.pairs, tables.numbers
    less, divisor, unknown = word_shares(model, numbers)
    d, column = discount(numbers[ONCE], numbers[TWICE]), COUNT if model == WITTEN_BELL else PRECEDERS
    total, product, before = 0.0, 1.0, 0
    for token in range(n_tokens):
        word, pair = int(scratch.words[token]), int(scratch.pairs[token])
        share = (words[word, column] - less) / divisor if word >= 0 else unknown
        followed = words[before, FOLLOWED] if before >= 0 else np.int64(0)
        if followed > 0:
            count, followers = pairs[pair, COUNT] if pair >= 0 else np.int64(0), words[before, FOLLOWERS]
            if model == WITTEN_BELL:
                share = (count + followers * share) / (followed + followers)
            else:
                share = (max(0.0, count - d) + d * followers * share) / followed
        product *= share
        if product < _SMALL:
            total, product = total - math.log(product), 1.0
        before = word
    return (total - math.log(product)) / _LN2


@kernel
def learn_text(hashes: NDArray[np.int64], most: int, tables: Tables, scratch: Scratch) -> None:
    """Count the words of a text and their pairs; a pair that would be one more than `most` is left out."""
    words, numbers = tables.words, tables.numbers
    before = 0
    for token in range(hashes.size):
        word, pair = int(scratch.words[token]), int(scratch.pairs[token])
        if word < 0:  # perhaps by an earlier token of this text it is known now
            word = row_of(hashes[token], words, tables.word_slots)
        if pair < 0 and before >= 0 and word >= 0:
            pair = row_of(pair_key(before, word), tables.pairs, tables.pair_slots)
        if before < 0 or (pair < 0 and numbers[PAIRS] >= most):
            before = word
            continue
        if word < 0:
            word = add_word(hashes[token], tables)
        if pair < 0:
            pair = add_pair(before, word, tables)
        count_pair(pair, tables)
        words[word, COUNT] += 1
        words[before, FOLLOWED] += 1
        before = word


@kernel
def count_pair(pair: int, tables: Tables) -> None:
    """Count a pair once more."""
    tables.pairs[pair, COUNT] += 1
    count, numbers = tables.pairs[pair, COUNT], tables.numbers
    numbers[ONCE] += np.int64(count == 1) - np.int64(count == 2)
    numbers[TWICE] += np.int64(count == 2) - np.int64(count == 3)
    numbers[TOKENS] += 1


@kernel
def add_word(key: int, tables: Tables) -> int:
    """A row for a word that has none; returns it."""
    row = int(tables.numbers[WORDS])
    tables.numbers[WORDS] += 1
    tables.words[row] = 0
    give_row(key, row, tables.words, tables.word_slots)
    return row


@kernel
def add_pair(before: int, word: int, tables: Tables) -> int:
    """A row for a pair that has none; returns it."""
    words, numbers = tables.words, tables.numbers
    row = int(numbers[PAIRS])
    numbers[PAIRS] += 1
    tables.pairs[row, COUNT] = 0
    give_row(pair_key(before, word), row, tables.pairs, tables.pair_slots)
    words[before, FOLLOWERS] += 1
    words[word, PRECEDERS] += 1
    preceders = words[word, PRECEDERS]
    numbers[AFTER_ONE] += np.int64(preceders == 1) - np.int64(preceders == 2)
    numbers[AFTER_TWO] += np.int64(preceders == 2) - np.int64(preceders == 3)
    return row


@kernel
def score_then_learn(
    model: int,
    indptr: NDArray[np.int64],
    hashes: NDArray[np.int64],
    learned: NDArray[np.bool_],
    most: int,
    tables: Tables,
    bits: NDArray[np.float64],
) -> None:
    """Set bits float64[n] to the bits of each text, then learn it if it is `learned`, text by text.

    indptr int64[n + 1], hashes int64[m] : the words of each text. tables : changed in place; they have room for m more
    words and pairs, or for `most` pairs.
    """
    scratch = Scratch(np.empty(hashes.size, np.int64), np.empty(hashes.size, np.int64))
    for i in range(bits.size):
        own = hashes[indptr[i] : indptr[i + 1]]
        find_rows(own, tables, scratch)
        bits[i] = bits_of(model, own.size, tables, scratch)
        if learned[i]:
            learn_text(own, most, tables, scratch)
