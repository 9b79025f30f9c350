"""The n-grams of one event equal the kernels', and their locations are right."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from streamlin.config import ViewConfig
from streamlin.features import View
from streamlin.features.masks import masked
from streamlin.features.ngram_locations import Ngrams, ngrams
from streamlin.features.ngrams import buckets_of
from tests import naive_features as naive
from tests.features.batches import batch_of, configs, ngram_configs, texts

MASKS = ("uuid", "ip", "hex", "number")
LOG = "Took 12 s at 10.0.0.1:80, id 550e8400-e29b-41d4-a716-446655440000: 0xFF İ5 dead1234"
FIELDS = ("product", "Größe")


def with_masks(of: st.SearchStrategy[ViewConfig]) -> st.SearchStrategy[ViewConfig]:
    masks = st.sets(st.sampled_from(MASKS))
    return st.builds(lambda config, masks: config.model_copy(update={"masks": tuple(masks)}), of, masks)


log_texts = st.lists(st.sampled_from(LOG.split()) | texts, max_size=8).map(" ".join)


def features(view: View, found: Ngrams) -> tuple[list[int], list[float]]:
    """Buckets in order of first occurrence and their values, counted one by one."""
    counts: dict[int, int] = {}
    for bucket in buckets_of(found.hashes, view.bits).tolist():
        counts[bucket] = counts.get(bucket, 0) + 1
    return list(counts), [naive.scaled(count, view.config.values) for count in counts.values()]


def told(found: Ngrams) -> list[tuple[str, tuple[int, int]]]:
    """Each n-gram and its location."""
    everything = np.arange(found.hashes.size)
    return [(found.ngram(i), place) for i, place in zip(everything, found.locations(everything), strict=True)]


@settings(max_examples=300)
@given(
    st.lists(log_texts | texts, max_size=3),
    with_masks(configs),
    st.integers(1, 31),
    st.fixed_dictionaries({field: st.none() | texts for field in FIELDS}),
)
@example([LOG, "\ud800 a", ""], ViewConfig(masks=MASKS, tokens="char_wb", ngrams=(1, 5)), 20, dict.fromkeys(FIELDS))
def test_located_ngrams_have_the_features_of_the_kernels(pieces, config, bits, categories):
    """Identical and in the same order: words, characters, masks, several pieces, categories, collisions."""
    view = View(config, bits, FIELDS)
    expected = view.buckets(batch_of([pieces], {field: [value] for field, value in categories.items()}))
    buckets, values = features(view, ngrams(view, pieces, categories))
    assert buckets == expected.buckets.tolist()
    assert_array_equal(np.array(values, np.float32), expected.values)


@given(texts, configs)
def test_ngrams_equal_the_twin(text, config):
    found = ngrams(View(config), [text])
    assert [found.ngram(i) for i in range(found.hashes.size)] == list(naive.ngrams(text, config))


@given(log_texts, with_masks(ngram_configs))
def test_text_at_a_location_gives_the_ngram(text, config):
    """The text at an n-gram's location, lower-cased and masked by itself, is that n-gram.

    Not so where a letter's lower case depends on its neighbours (Σ), or falls apart (İ).
    """
    text = text.replace("Σ", "").replace("İ", "")
    config = config.model_copy(update={"normalize": None})
    view = View(config)
    found = ngrams(view, [text])
    places = found.locations(np.arange(found.hashes.size))
    for i in range(found.hashes.size):
        begin, end = places[i]
        assert 0 <= begin <= end <= len(text)
        here = text[begin:end].lower() if config.lowercase else text[begin:end]
        if config.tokens == "char_wb":
            if not config.masks:
                assert here == found.ngram(i).strip()
        elif found.size[i] == 1:
            assert [found.ngram(i)] == masked([here], config.masks)


@pytest.mark.parametrize(
    ("config", "text", "spans"),
    [
        (ViewConfig(), "New York!", {"new": (0, 3), "new york": (0, 8), "york": (4, 8)}),
        (ViewConfig(ngrams=(1, 1)), "İstanbul x", {"i\u0307stanbul": (0, 8), "x": (9, 10)}),
        (
            ViewConfig(ngrams=(1, 1), normalize="nfkc"),
            "cl\u2062aim \u200be\u0301\u00ad5ﬁ",
            {"claim": (0, 6), "é5fi": (8, 13)},
        ),
        (ViewConfig(ngrams=(1, 1), masks=["number"]), "é 12,5 s", {"é": (0, 1), "__number__": (2, 6), "s": (7, 8)}),
        (
            ViewConfig(tokens="char_wb", ngrams=(2, 2)),
            " ab c",
            {" a": (1, 2), "ab": (1, 3), "b ": (2, 3), " c": (4, 5), "c ": (4, 5)},
        ),
        (ViewConfig(tokens="char_wb", ngrams=(1, 1)), "𝒜", {" ": (1, 1), "𝒜": (0, 1)}),
        (ViewConfig(tokens="char_wb", ngrams=(5, 5)), "ab", {" ab ": (0, 2)}),
        (
            ViewConfig(tokens="first"),
            "Is it",
            {"0:is": (0, 2), "1:it": (3, 5), "^is it": (0, 5), "$it": (3, 5), "$$is it": (0, 5)},
        ),
        (ViewConfig(tokens="head"), "\n Re: it\nbody", {"<re:": (2, 5), "<it": (6, 8)}),
        (ViewConfig(tokens="skip"), "to be or", {"to _or": (0, 8)}),
        (ViewConfig(tokens="skip", masks=["number"]), "a - 12", {"a _ __number__".replace(" _ ", " _"): (0, 6)}),
    ],
)
def test_locations_by_hand(config, text, spans):
    """For a repeated n-gram, its last location."""
    found = ngrams(View(config), [text])
    assert dict(told(found)) == spans


def test_pieces_are_consecutive_and_categories_at_the_end():
    view = View(ViewConfig(ngrams=(1, 2)), categories=["product", "empty"])
    found = ngrams(view, ["a b", "", "c"], {"product": "Visa Card", "empty": None})
    assert told(found) == [
        ("a", (0, 1)),
        ("a b", (0, 3)),
        ("b", (2, 3)),
        ("c", (5, 6)),
        ("product=Visa Card", (6, 6)),
    ]


@pytest.mark.parametrize(("pieces", "tokens"), [*product([[], [""], [" \n"], ["", ""]], ["words", "char_wb"])])
def test_empty_input_has_no_features(pieces, tokens):
    found = ngrams(View(ViewConfig(tokens=tokens)), pieces)
    assert found.hashes.size == found.spans.size == 0


def test_last_location_in_a_long_text():
    """A megabyte, with 5 n-grams at each character; the last one ends where the text ends."""
    text = "wörd1 " * 170_000
    view = View(ViewConfig(tokens="char_wb", ngrams=(1, 5)), bits=31)
    found = ngrams(view, [text])
    expected = view.of_texts([text])
    assert set(buckets_of(found.hashes, 31).tolist()) == set(expected.buckets.tolist())
    assert found.locations(np.array([found.hashes.size - 2])) == [(len(text) - 2, len(text) - 1)]
