"""Views whose features are no n-grams, by hand; the other tests compare them with the twin (`batches.configs`)."""

import pytest

from streamlin.config import ViewConfig
from streamlin.config.features import WITHOUT_NGRAMS
from streamlin.errors import ConfigError
from streamlin.features import View
from streamlin.features.ngram_locations import ngrams
from streamlin.features.set_words import word_features


def told(text: str, **keys: object) -> list[str]:
    """The features of a text, as often as they occur."""
    found = ngrams(View(ViewConfig(**keys)), [text])
    return [found.ngram(i) for i in range(found.hashes.size)]


def test_first_words_have_their_places():
    features = [
        "0:who",
        "1:is",
        "2:the",
        "3:king",
        "3:of",
        "3:spain",
        "^who is",
        "^^who is the",
        "$now?",
        "$$spain now?",
    ]
    assert told("Who is the king of Spain now?", tokens="first") == features
    assert told("Why", tokens="first") == ["0:why", "$why"]


def test_the_head_is_the_first_line_with_words():
    assert told(" \n\nSubject: Re\nSubject no more", tokens="head") == ["<subject:", "<re"]
    assert len(told("a " * 30, tokens="head")) == 20


def test_pairs_skip_one_to_three_words():
    assert told("a b c d e f", tokens="skip") == [
        *("a _c", "a _d", "a _e", "b _d", "b _e", "b _f", "c _e", "c _f", "d _f"),
    ]
    assert len(told("a " * 500, tokens="skip")) == 3 * 400 - (2 + 3 + 4)


def test_shapes_of_words_and_of_the_whole_text():
    """Three tokens of 11 characters: 2 log2 3 = 3.2 and 2 log2 11 = 6.9; of the characters 2 are capitals, 2 digits."""
    numbers = ["n=3", "c=6", "X%3", "X#2", "d%3", "d#2", ".%5", ".#2"]
    shapes = ["Xx+", "X", "d+.+", "Xx+ X", "X d+.+", "^Xx+ X", "$d+.+"]
    assert told("Hello É 12...", tokens="shape") == [*shapes, *numbers]


@pytest.mark.parametrize("tokens", WITHOUT_NGRAMS)
def test_a_text_without_words_has_no_features(tokens):
    assert told(" \n ", tokens=tokens) == []
    assert View(ViewConfig(tokens=tokens)).of_texts(["", "\n"]).indptr.tolist() == [0, 0, 0]


@pytest.mark.parametrize("tokens", WITHOUT_NGRAMS)
def test_a_word_set_by_hand_is_refused(tokens):
    with pytest.raises(ConfigError, match=rf"^'prize' is no feature of view words \(tokens = '{tokens}'\)$"):
        word_features(View(ViewConfig(tokens=tokens)), "prize")
