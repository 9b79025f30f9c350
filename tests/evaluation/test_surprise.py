"""How surprising texts are: two language models, by hand and against their twins."""

import random
from itertools import pairwise
from math import log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from streamlin.config import SurpriseConfig
from streamlin.evaluation.ngram_kernels import PAIRS, WORDS
from streamlin.evaluation.surprise import Surprise
from streamlin.features.token_hashes import hashes_of
from tests.evaluation.scored import cuts
from tests.naive_surprise import START, NaiveLanguageModel

MODELS = ("kneser_ney", "witten_bell")
WINDOW = 5
texts = st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), max_size=25)


def made(model: str, **keys: Any) -> Surprise:
    return Surprise(SurpriseConfig(model=model, **keys), WINDOW)


def learned(
    surprise: Surprise, words: list[list[str]], at: list[int], weights: list[float] | None = None
) -> list[float]:
    """The bits of texts in batches cut at some places; the label of text i is i % 2."""
    bounds, bits = [0, *sorted(cut for cut in at if cut < len(words)), len(words)], []
    for begin, end in pairwise(bounds):
        part = words[begin:end]
        indptr, hashes = np.cumsum([0, *map(len, part)]), hashes_of([word for own in part for word in own])
        own = np.ones(len(part)) if weights is None else np.array(weights[begin:end])
        codes = np.arange(begin, end, dtype=np.int32) % 2
        bits += surprise.update(indptr, hashes, own, codes, 2).tolist()
    return bits


def share(surprise: Surprise, before: str, word: str | None) -> float:
    """P(word | before), None: of a word that is not known yet; from the bits of two texts that differ by the word."""
    texts_ = [[], [word or "unknown"]] if before == START else [[before], [before, word or "unknown"]]
    indptr, hashes = np.cumsum([0, *map(len, texts_)]), hashes_of([name for own in texts_ for name in own])
    bits = np.nan_to_num(surprise.bits(indptr, hashes)) * np.diff(indptr)
    return float(2 ** (bits[0] - bits[1]))


def test_kneser_ney_by_hand() -> None:
    """Learned: a b a, then a b. Pairs: start-a 2, a-b 2, b-a 1. V = 2; N = 3; n1 = 1, n2 = 2: D = 1/5.

    Different words before a: start, b; before b: a. One word behind one, one behind two: D' = 1/3.
    P(a) = (2 - 1/3)/3 + 1/3 2/3 1/3 = 17/27;   P(b) = (1 - 1/3)/3 + 2/27 = 8/27;   a new word 2/27
    P(b | a) = (2 - 1/5)/2 + 1/5 1/2 8/27 = 0.9 + 0.8/27
    """
    surprise = made("kneser_ney")
    assert learned(surprise, [["a", "b", "a"], ["a", "b"]], [])[0] == 0.0
    assert share(surprise, "a", "b") == pytest.approx(0.9 + 0.8 / 27)
    assert share(surprise, "a", "a") == pytest.approx(0.1 * 17 / 27)
    assert share(surprise, "a", None) == pytest.approx(0.1 * 2 / 27)
    assert learned(surprise, [["a", "c"]], [])[0] == pytest.approx(
        -(log2((2 - 0.2) / 2 + 0.1 * 17 / 27) + log2(0.1 * 2 / 27)) / 2
    )


def test_witten_bell_by_hand() -> None:
    """The same texts: C = 5, V = 2. P(a) = (3 + 2/3)/7 = 11/21; P(b) = 8/21; a new word 2/21.

    P(b | a) = (2 + 1 8/21)/(2 + 1) = 50/63
    """
    surprise = made("witten_bell")
    learned(surprise, [["a", "b", "a"], ["a", "b"]], [])
    assert share(surprise, "a", "b") == pytest.approx(50 / 63)
    assert share(surprise, "a", None) == pytest.approx(2 / 63)


@pytest.mark.parametrize("model", MODELS)
@settings(deadline=None, max_examples=50)
@given(texts, st.integers(1, 30))
def test_probabilities_sum_to_one_and_equal_the_twin(model: str, words: list[list[str]], most: int) -> None:
    """Behind every word, and at the start: over all words and a new one; also where the tables are full."""
    surprise, twin = made(model, max_pairs=most), NaiveLanguageModel(model, most)
    learned(surprise, words, [])
    for own in words:
        twin.learn(own)
    known = sorted(twin.words())
    for before in (START, *known):
        shares = [share(surprise, before, word) for word in (*known, None)]
        assert sum(shares) == pytest.approx(1, abs=1e-9)
        assert_allclose(shares, [twin.behind(before, word) for word in (*known, None)], rtol=1e-9)


@pytest.mark.parametrize("model", MODELS)
@settings(deadline=None, max_examples=50)
@given(texts, cuts, st.randoms())
def test_bits_equal_the_twin_in_any_batches(
    model: str, words: list[list[str]], at: list[int], draw: random.Random
) -> None:
    weights = [draw.choice([0.0, 1.0, 2.5]) for _ in words]
    surprise, twin, expected = made(model), NaiveLanguageModel(model), []
    for own, weight in zip(words, weights, strict=True):
        expected.append(twin.bits(own))
        if weight > 0:
            twin.learn(own)
    found = learned(surprise, words, at, weights)
    assert [bits != bits for bits in found] == [bits is None for bits in expected]
    known = [bits for bits in expected if bits is not None]
    assert_allclose([bits for bits in found if bits == bits], known, atol=1e-9)
    counted = [
        (weight * len(own) * bits, weight * len(own))
        for own, weight, bits in zip(words, weights, expected, strict=True)
        if bits is not None and weight
    ]
    for prefix, part in (("", counted), ("window_", counted[-WINDOW:])):
        tokens = sum(n for _, n in part)
        told = surprise.to_json([])[f"{prefix}bits"]
        assert told == (pytest.approx(sum(bits for bits, _ in part) / tokens, abs=1e-9) if part else None)


@pytest.mark.parametrize("model", MODELS)
@given(texts, cuts, st.integers(0, 20))
def test_batches_and_a_restore_change_no_bit(model: str, words: list[list[str]], at: list[int], cut: int) -> None:
    whole, parts, resumed = (made(model, by_label=True, max_pairs=12) for _ in range(3))
    bits = learned(whole, words, [])
    assert np.array_equal(learned(parts, words, at), bits, equal_nan=True)
    cut -= cut % 2
    first = made(model, by_label=True, max_pairs=12)
    learned(first, words[:cut], [])
    resumed.restore(first.state())
    assert resumed.is_consistent()
    assert np.array_equal(learned(resumed, words[cut:], at), bits[cut:], equal_nan=True)
    for name, array in whole.state().items():
        assert array.tobytes() == parts.state()[name].tobytes() == resumed.state()[name].tobytes(), name


def test_tables_that_are_full_are_told_once() -> None:
    surprise, hashes = made("kneser_ney", max_pairs=3), hashes_of(["a", "b", "c", "d", "e"])
    told = []
    for _ in range(3):
        surprise.update(np.array([0, 5]), hashes, np.ones(1))
        told.append(surprise.pop_notices())
    assert told == [["surprise.max_pairs: there are 3 pairs of words, further ones are ignored"], [], []]
    assert surprise.numbers[[WORDS, PAIRS]].tolist() == [4, 3]


def test_perplexity_of_each_label() -> None:
    surprise = made("witten_bell", by_label=True)
    learned(surprise, [["a"], ["a", "b"], ["a"], ["c", "d"]], [])
    report = surprise.to_json(["plain", "odd"])
    rows = report["by_label"]
    assert rows["plain"]["perplexity"] < rows["odd"]["perplexity"]
    assert report["bits"] == pytest.approx((2 * rows["plain"]["bits"] + 4 * rows["odd"]["bits"]) / 6)


@pytest.mark.parametrize("part", ["words", "pairs"])
def test_a_forged_table_is_noticed(part: str) -> None:
    surprise, other = made("kneser_ney"), made("kneser_ney")
    learned(surprise, [["a", "b", "c"]], [])
    state = {name: array.copy() for name, array in surprise.state().items()}
    state[part][2, 0] = state[part][1, 0]
    other.restore(state)
    assert not other.is_consistent()
