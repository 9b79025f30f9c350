"""How surprising texts are: a bigram language model that is asked, then learns, text by text.

c(uw) counts the pairs of neighbouring words; before the first word of a text, u is its start. c(u.) is the sum over w,
N(u.) how many different words followed u, N(.w) how many different ones preceded w, N all different pairs, V the words
known and C all tokens. With `kneser_ney`, interpolated, there is a discount D = n1 / (n1 + 2 n2) for pairs and another,
D', for words, where n1 and n2 count what was seen once and twice (at least 0.1 and at most 0.9)::

    P(w | u) = max(c(uw) - D, 0) / c(u.) + D N(u.) / c(u.) P(w)
    P(w)     = (N(.w) - D') / N + D' V / N 1 / (V + 1)

With `witten_bell`::

    P(w | u) = (c(uw) + N(u.) P(w)) / (c(u.) + N(u.))
    P(w)     = (c(w) + V / (V + 1)) / (C + V)

A word that is not known yet counts as one more word: c = N = 0, and no discount. So the probabilities of the V words
and of a new one sum to 1. Behind a word that nothing followed yet, P(w | u) = P(w). The surprise of a text is
-1/n sum log2 P(w | u) over its n words, all by what earlier texts have taught; perplexity is 2 to that power.

Kneser, Ney, ICASSP (1995) 181-184; Chen, Goodman, Computer Speech and Language 13 (1999) 359-394; Witten, Bell, IEEE
Transactions on Information Theory 37 (1991) 1085-1094.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.config import SurpriseConfig
from streamlin.evaluation.array_state import ArrayState
from streamlin.evaluation.ngram_kernels import (
    KNESER_NEY,
    PAIRS,
    WITTEN_BELL,
    WORDS,
    Tables,
    fill_slots,
    score_then_learn,
)
from streamlin.storage.arrays import Expected, expected

_MODELS = {"kneser_ney": KNESER_NEY, "witten_bell": WITTEN_BELL}
_SMALLEST = 1024
_BITS, _TOKENS = range(2)


class Surprise(ArrayState):
    """The language model, and what was measured with it.

    Learned are the texts of a weight above 0, each once; the measures are weighted sums.

    Parameters
    ----------
    config : the model, the most pairs that it keeps, and whether labels are measured apart.
    window : events with words.

    Attributes
    ----------
    words : int64[n, 5], of each word its hash, its count, how often it was followed, by and behind how many different
        words; the first row is the start of texts. pairs : int64[m, 2], the rows of both words (2^32 times the first,
        plus the second), and the count. Both in order of first sight.
    numbers : int64[7], see `streamlin.evaluation.ngram_kernels`.
    totals : float64[2], bits and tokens, by weight. recent : float64[window, 2], those of the last events, a ring.
    events : int64[1], events with words, of a weight above 0.
    by_label : float64[labels, 2], bits and tokens of the events that came with a label; [0, 2] if not asked for.
    """

    arrays = ("words", "pairs", "numbers", "totals", "recent", "events", "by_label")

    def __init__(self, config: SurpriseConfig, window: int) -> None:
        self._config, self._model = config, _MODELS[config.model]
        self.numbers = np.zeros(7, np.int64)
        self.numbers[WORDS] = 1
        self.totals, self.events = np.zeros(2), np.zeros(1, np.int64)
        self.recent, self.by_label = np.zeros((window, 2)), np.zeros((0, 2))
        self._notices: list[str] = []
        start, no_pairs = np.zeros((1, 5), np.int64), np.zeros((0, 2), np.int64)
        self._tables, self._unique = _allocated(start, no_pairs, self.numbers, (_SMALLEST, _SMALLEST))

    @property
    def words(self) -> NDArray[np.int64]:
        """See the class."""
        return self._tables.words[: self.numbers[WORDS]]

    @property
    def pairs(self) -> NDArray[np.int64]:
        """See the class."""
        return self._tables.pairs[: self.numbers[PAIRS]]

    def update(
        self,
        indptr: NDArray[np.int64],
        hashes: NDArray[np.uint64],
        weights: NDArray[np.float64],
        codes: NDArray[np.int32] | None = None,
        n_labels: int = 0,
    ) -> NDArray[np.float64]:
        """Ask, then teach, the model a batch of n texts; see `bits`.

        indptr int64[n + 1], hashes uint64[m] : the words of each text. weights float64[n] : 0 for what is not a text.
        codes int32[n] : labels, -1 for none; None: of no text. Returns the surprise of each.
        """
        full_before = self.is_full
        bits = self._bits(indptr, hashes, weights > 0)
        tokens = np.diff(indptr)
        counted = np.flatnonzero((weights > 0) & (tokens > 0))
        measured = np.stack([weights * bits, weights * tokens], axis=1)[counted]
        last = np.arange(counted.size)[-len(self.recent) :]
        self.recent[(self.events[0] + last) % len(self.recent)] = measured[last]
        self.totals = np.add.accumulate(np.vstack([self.totals, measured]))[-1]  # in order, whatever the batches are
        self.events += counted.size
        if self._config.by_label and codes is not None:
            missing = max(0, n_labels - len(self.by_label))
            self.by_label = np.vstack([self.by_label, np.zeros((missing, 2))])
            labelled = codes[counted] >= 0
            np.add.at(self.by_label, codes[counted][labelled], measured[labelled])
        if self.is_full and not full_before:
            most = self._config.max_pairs
            self._notices.append(f"surprise.max_pairs: there are {most:,} pairs of words, further ones are ignored")
        return _each(bits, tokens)

    def pop_notices(self) -> list[str]:
        """The notices since the last call, which removes them."""
        notices, self._notices = self._notices, []
        return notices

    def bits(self, indptr: NDArray[np.int64], hashes: NDArray[np.uint64]) -> NDArray[np.float64]:
        """float64[n]: the bits a word of each text, NaN where there is no word; nothing is learned."""
        bits = self._bits(indptr, hashes, np.zeros(indptr.size - 1, np.bool_))
        return _each(bits, np.diff(indptr))

    @property
    def is_full(self) -> bool:
        """Whether no pair is added any more."""
        return bool(self.numbers[PAIRS] >= self._config.max_pairs)

    def _bits(
        self, indptr: NDArray[np.int64], hashes: NDArray[np.uint64], learned: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        if learned.any():
            self._make_room(hashes.size)
        bits = np.empty(learned.size)
        most = self._config.max_pairs
        score_then_learn(self._model, indptr, hashes.view(np.int64), learned, most, self._tables, bits)
        return bits

    def _make_room(self, tokens: int) -> None:
        """Ensure room for so many more words and pairs, or for as many as there may be."""
        before, most = (len(self._tables.words), len(self._tables.pairs)), self._config.max_pairs
        rooms = (
            _room(before[0], self.numbers[WORDS] + tokens, most + 1),
            _room(before[1], self.numbers[PAIRS] + tokens, most),
        )
        if rooms != before:
            self._tables, _ = _allocated(self.words, self.pairs, self.numbers, rooms)

    def to_json(self, labels: Sequence[str]) -> dict[str, Any]:
        """As the report has it."""
        n = min(int(self.events[0]), len(self.recent))
        spans = {"": self.totals, "window_": self.recent[:n].sum(axis=0)}
        report: dict[str, Any] = {
            "model": self._config.model,
            "words": int(self.numbers[WORDS]) - 1,
            "pairs": int(self.numbers[PAIRS]),
            **{key: value for prefix, sums in spans.items() for key, value in _means(sums, prefix).items()},
        }
        if self._config.by_label:
            report["by_label"] = {name: _means(sums) for name, sums in zip(labels, self.by_label, strict=False)}
        return report

    def expected(self, n_labels: int) -> dict[str, Expected]:
        """See `ArrayState`."""
        return super().expected(n_labels) | {
            "words": expected(np.int64, None, 5, lowest=None),
            "pairs": expected(np.int64, None, 2),
            "by_label": expected(np.float64, None, 2),
        }

    def is_consistent(self) -> bool:
        """See `ArrayState`."""
        if not self._unique:
            return False
        words, pairs = self.words, self.pairs
        rows = pairs[:, 0] >> 32, pairs[:, 0] & 0xFFFFFFFF
        return all(int(own.max(initial=0)) < len(words) for own in rows) and bool((words[:, 1:] >= 0).all())

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Copy the arrays that `state` returned."""
        for name in ("numbers", "totals", "recent", "events", "by_label"):
            setattr(self, name, state[name].copy())
        words, pairs = state["words"], state["pairs"]
        fits = 0 < len(words) == self.numbers[WORDS] <= len(pairs) + 1 and len(pairs) == self.numbers[PAIRS]
        if fits:
            rooms = max(len(words), _SMALLEST), max(len(pairs), _SMALLEST)
            self._tables, fits = _allocated(words, pairs, self.numbers, rooms)
        self._unique = bool(fits)


def _room(rows: int, needed: int, most: int) -> int:
    """The length of a table of so many rows once it has the needed ones, or the most that there may be."""
    needed = int(min(needed, most))
    return rows if needed <= rows else min(max(needed, 2 * rows), most)


def _allocated(
    words: NDArray[np.int64], pairs: NDArray[np.int64], numbers: NDArray[np.int64], rooms: tuple[int, int]
) -> tuple[Tables, bool]:
    """Tables that hold these rows, with room for so many words and pairs; whether no two keys are the same."""
    slots = [np.empty(1 << (2 * room - 1).bit_length(), np.int64) for room in rooms]
    tables = Tables(np.zeros((rooms[0], 5), np.int64), np.zeros((rooms[1], 2), np.int64), numbers, *slots)
    tables.words[: len(words)], tables.pairs[: len(pairs)] = words, pairs
    unique = fill_slots(tables.words, 1, len(words), tables.word_slots)
    return tables, fill_slots(tables.pairs, 0, len(pairs), tables.pair_slots) and unique


def _each(bits: NDArray[np.float64], tokens: NDArray[np.int64]) -> NDArray[np.float64]:
    each: NDArray[np.float64] = np.divide(bits, tokens, out=np.full(bits.size, np.nan), where=tokens > 0)
    return each


def _means(sums: NDArray[np.float64], prefix: str = "") -> dict[str, float | None]:
    """Bits a token, and perplexity; None where nothing was measured."""
    bits, tokens = sums.tolist()
    mean = bits / tokens if tokens > 0 else None
    return {f"{prefix}bits": mean, f"{prefix}perplexity": None if mean is None else 2.0**mean}
