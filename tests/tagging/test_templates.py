"""The features of tokens, against templates of strings."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlin.tagging.features import TokenView
from tests.tagging.running import Sentence, batch_of, real_sentences

BITS = 31
"""So that two features hardly ever share a bucket."""
OUTSIDE = object()


def shape(word):
    """X, x, 0 for upper-case letters, other letters and digits, repeats once; other characters stand for themselves."""
    kinds = []
    for character in word:
        if unicodedata.category(character) == "Nd":
            kind = "0"
        elif character.isupper():
            kind = "X"
        else:
            kind = "x" if character.isalpha() else f"other {character}"
        if kinds[-1:] != [kind]:
            kinds.append(kind)
    return tuple(kinds)


def affixes(word):
    """The last one to four characters, or all of them; the first ones, if there are so many."""
    word = word.lower()
    return [word[-n:] for n in range(1, 5)], [word[:n] if n <= len(word) else OUTSIDE for n in range(1, 5)]


def named(tokens):
    """The 22 features of each token of a sentence."""

    def at(i, part):
        return part(tokens[i]) if 0 <= i < len(tokens) else OUTSIDE

    def word(token):
        return token

    def suffix(token):
        return affixes(token)[0][2]

    rows = []
    for i, token in enumerate(tokens):
        suffixes, prefixes = affixes(token)
        around = [at(i + d, word) for d in (-1, 1, -2, 2)]
        pairs = [(at(i - 1, word), token), (token, at(i + 1, word))]
        shapes = [(at(i - 1, shape), shape(token)), (shape(token), at(i + 1, shape))]
        ends = [at(i - 1, suffix), at(i + 1, suffix)]
        rows.append([token, token.lower(), *suffixes, *prefixes, shape(token), *around, *pairs, *ends, *shapes, "bias"])
    return rows


def assert_same_features(sentences):
    """Two tokens share a template's bucket exactly if its strings are equal."""
    buckets = TokenView(BITS).buckets(batch_of(sentences)).buckets
    names = [row for sentence in sentences for row in named(sentence.tokens)]
    assert buckets.shape == (len(names), 22)
    for template in range(22):
        ours = buckets[:, template].tolist()
        theirs = [row[template] for row in names]
        assert len(set(ours)) == len(set(theirs)) == len(set(zip(ours, theirs, strict=True))), template


def test_templates_of_words_are_those_of_their_strings(data):
    assert_same_features(real_sentences(data / "pos-ud-ewt.jsonl.gz", 200))


words = st.text(st.sampled_from("aAéÉßß1٣-.'नि👍🏽ǅſ"), min_size=1, max_size=6)


@given(st.lists(st.lists(words, max_size=5).map(lambda tokens: Sentence(tokens, [None] * len(tokens))), max_size=5))
def test_characters_of_all_scripts_have_their_affixes_and_shape(sentences):
    """In characters, not bytes."""
    assert_same_features(sentences)


def test_templates_do_not_share_buckets():
    """The same string in two templates is two features."""
    buckets = TokenView(BITS).buckets(batch_of([Sentence(["a"], [None])])).buckets
    assert len(set(buckets[0].tolist())) == 22


@pytest.mark.parametrize("bits", [1, 8, 22])
def test_buckets_are_below_their_number(bits, data):
    features = TokenView(bits).buckets(batch_of(real_sentences(data / "pos-ud-ewt.jsonl.gz", 20)))
    for buckets in (features.buckets, features.contexts):
        assert 0 <= buckets.min() <= buckets.max() < 1 << bits


def test_features_stay_inside_a_sentence(data):
    """Neighbours in a batch do not change them."""
    sentences, view = real_sentences(data / "pos-ud-ewt.jsonl.gz", 20), TokenView(BITS)
    whole = view.buckets(batch_of(sentences))
    alone = [view.buckets(batch_of([sentence])) for sentence in sentences]
    assert np.array_equal(whole.buckets, np.concatenate([features.buckets for features in alone]))
    assert np.array_equal(whole.contexts, np.concatenate([features.contexts for features in alone]))


def test_columns_bring_their_values_around_a_token():
    """Beside 12 templates of words, 12 for each column; its values are apart from those of other columns."""
    batch = batch_of([Sentence(["a", "b", "a"], [None] * 3)])
    batch.tokens.columns = {"pos": ["X", "Y", "X"], "case": ["X", "Y", "X"]}
    buckets = TokenView(BITS, ["pos", "case"]).buckets(batch).buckets
    assert buckets.shape == (3, 36)
    pos, case = buckets[:, 12:24], buckets[:, 24:]
    assert pos[0, 2] == pos[2, 2] != pos[1, 2]
    assert (pos != case).all()
    assert (pos[0, [0, 1]] == pos[2, [3, 4]]).sum() == 0
