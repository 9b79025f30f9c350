"""The contribution of each part of a text."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from streamlin.explanation import explain
from streamlin.explanation.shading import LEVELS, shades
from tests.explanation.models import events_of, taught
from tests.features.batches import texts

LETTERS = [{"kind": "perceptron", "features": "letters"}]
WORDS = [{"kind": "perceptron"}]
BOTH = [*WORDS, {"kind": "perceptron", "name": "letters", "features": "letters"}, {"kind": "mixture"}]
STREAM = events_of(("win a prize", "x"), ("see lunch", "y")) * 3


def parts(learners, text, **features):
    """The shades of a text, its learner the last one; and its reasons."""
    views = {"words": {"ngrams": [1, 2]}, "letters": {"tokens": "char_wb", "ngrams": [1, 2]}} | features
    reasons = list(explain(taught(STREAM, learners, features=views), text).learners.values())[-1]
    return shades(reasons, len(text)), reasons


def test_contributions_are_divided_among_words_and_occurrences():
    """After a perceptron's first mistake, at the second event, see, see lunch and lunch have the same weight.

    So in "see lunch, lunch" lunch has half of it at each place, and see lunch half at each word; lunch lunch has none.
    """
    found, reasons = parts(WORDS, "see lunch, lunch")
    assert reasons.predicted == "y"
    unit = abs(reasons.added[0, 1])
    assert [(shade.begin, shade.end) for shade in found] == [(0, 3), (4, 9), (11, 16)]
    assert_allclose([shade.weight / unit for shade in found], [1.5, 1.0, 0.5])
    assert [shade.level for shade in found] == [5, 4, 2]


def test_characters_are_merged_where_words_overlap_them():
    assert [(shade.begin, shade.end) for shade in parts(LETTERS, "win é")[0]] == [(0, 1), (1, 2), (2, 3), (4, 5)]
    assert [(shade.begin, shade.end) for shade in parts(BOTH, "win é")[0]] == [(0, 3), (4, 5)]


def test_masked_text_is_shaded_as_one_part():
    letters = {"tokens": "char_wb", "masks": ["number"]}
    assert [(shade.begin, shade.end) for shade in parts(LETTERS, "a 12,5 b", letters=letters)[0]][1:2] == [(2, 6)]


def test_normalized_words_are_shaded_with_their_invisible_characters():
    words = {"ngrams": [1, 1], "normalize": "nfkc"}
    found, _ = parts(WORDS, "see l\u00adunch \u200bＷin", words=words)
    assert [(shade.begin, shade.end) for shade in found] == [(0, 3), (4, 10), (12, 15)]


@settings(max_examples=60, deadline=None)
@given(texts | st.text("win a prize", max_size=20), st.sampled_from([WORDS, LETTERS, BOTH]))
def test_parts_are_ordered_and_sum_to_the_contributions(text, learners):
    """Except for n-grams without a location: the blank around a token, alone."""
    found, reasons = parts(learners, text)
    for shade, following in pairwise(found):
        assert shade.begin < shade.end <= following.begin
    weights = np.array([shade.weight for shade in found])
    assert np.isfinite(weights).all()
    assert all(abs(shade.level) <= LEVELS and (shade.level > 0) == (shade.weight > 0) for shade in found if shade.level)
    if learners is WORDS:
        code = reasons.ranked[0]
        total = (reasons.added[:, code] - reasons.added.mean(axis=1)).sum()
        assert_allclose(weights.sum(), total, atol=1e-9)


def test_without_labels_nothing_is_shaded():
    [reasons] = explain(taught([], WORDS), "a b").learners.values()
    assert shades(reasons, 3) == []
