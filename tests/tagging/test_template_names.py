"""The names of features: what they name, hashed, gives the kernels' buckets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlin.features.murmur3 import murmur3_32
from streamlin.kernel.byte_buffers import encode_texts
from streamlin.tagging.features import TokenView
from streamlin.tagging.template_names import (
    PARTS,
    SentenceNames,
    context_templates,
    part_texts,
    token_templates,
)
from streamlin.tagging.templates import SHAPE, bucket, hash_parts
from tests.tagging.running import Sentence, batch_of, real_sentences

BITS = 31
OUTSIDE, ABSENT = 0x9E3779B9, 0x7F4A7C15
COLUMNS = {"pos": ["X", "", "Y"], "näme": ["b c", "|", "="]}


def hash_of(part, text):
    """The hash of a text that a name shows. A shape is hashed character by character."""
    if text is None:
        return ABSENT
    if part == SHAPE:
        h = 0x811C9DC5
        for character in text:
            h = (h ^ ({"x": 1, "X": 2, "d": 3}.get(character, ord(character) + 4))) * 0x01000193 & 0xFFFFFFFF
            h ^= h >> 15
        return h
    data, _ = encode_texts([text])
    return int(murmur3_32(data, np.int64(0), np.int64(len(text.encode())))) & 0xFFFFFFFF


def hashed(template, texts, t):
    """The bucket of a template at token t, from the texts that its name consists of."""
    pieces = [
        hash_of(part, texts[part][t + offset]) if 0 <= t + offset < len(texts[0]) else OUTSIDE
        for part, offset in template.pieces
    ]
    if len(pieces) == 3:
        pieces = [(pieces[0] * 0x85EBCA6B + pieces[1]) & 0xFFFFFFFF, pieces[2]]
    a, b = [*pieces, 0, 0][:2]
    return bucket(template.number, np.uint32(a), np.uint32(b), BITS)


def hashed_context(template, n_columns, texts, t):
    own, columns = (
        template.pieces[: len(template.pieces) - n_columns],
        template.pieces[len(template.pieces) - n_columns :],
    )
    mixed = 0
    for part, _ in columns:
        mixed = (mixed * 31 + hash_of(part, texts[part][t])) & 0xFFFFFFFF
    a, *b = [hash_of(part, texts[part][t]) for part, _ in own]
    if own[0].part == SHAPE:
        return bucket(template.number, np.uint32(a ^ mixed), np.uint32(b[0] if b else 0), BITS)
    return bucket(template.number, np.uint32(a), np.uint32(mixed), BITS)


def assert_names_are_hashed(tokens, columns):
    batch = batch_of([Sentence(tokens, [None] * len(tokens))])
    batch.tokens.columns = dict(columns)
    found = TokenView(BITS, list(columns)).buckets(batch)
    texts = [*zip(*map(part_texts, tokens), strict=True), *columns.values()]
    for t in range(len(tokens)):
        expected = [hashed(template, texts, t) for template in token_templates(len(columns))]
        assert found.buckets[t].tolist() == expected
        expected = [hashed_context(template, len(columns), texts, t) for template in context_templates(len(columns))]
        assert found.contexts[t].tolist() == expected


words = st.text(st.sampled_from("aAéÉßß1٣-.'नि👍🏽ǅſİ"), max_size=6)


@given(st.lists(words, min_size=1, max_size=4))
def test_named_parts_hashed_are_the_kernels_buckets(tokens):
    assert_names_are_hashed(tokens, {})


def test_named_values_of_columns_hashed_are_the_kernels_buckets():
    assert_names_are_hashed(["The", "dog", "x-1"], COLUMNS)
    assert_names_are_hashed(["a"], {"pos": ["X"]})


def test_named_parts_of_real_sentences_are_the_kernels_buckets(data):
    for sentence in real_sentences(data / "pos-ud-ewt.jsonl.gz", 40):
        assert_names_are_hashed(sentence.tokens, {})


def test_equal_names_are_equal_parts(data):
    """Of all tokens of real sentences; and each feature has a name of its own."""
    parts = {}
    for sentence in real_sentences(data / "pos-ud-ewt.jsonl.gz", 40):
        found = TokenView(BITS).buckets(batch_of([sentence])).buckets
        names = SentenceNames(sentence.tokens, {})
        for t in range(len(sentence.tokens)):
            assert len(set(names.features(t))) == 22
            for name, number in zip(names.features(t), found[t].tolist(), strict=True):
                assert parts.setdefault(name, number) == number


def test_names_of_a_short_sentence():
    names = SentenceNames(["The", "dog-1"], {})
    assert names.features(0) == [
        *("w=The", "lower=the", "suf1=e", "suf2=he", "suf3=the", "suf4=the", "pre1=t", "pre2=th", "pre3=the"),
        *("pre4=<none>", "shape=Xx", "w-1=<start>", "w+1=dog-1", "w-2=<start>", "w+2=<end>", "w-1|w=<start>|The"),
        *("w|w+1=The|dog-1", "suf3-1=<start>", "suf3+1=g-1", "shape-1|shape=<start>|Xx", "shape|shape+1=Xx|x-d"),
        "bias",
    ]
    assert names.contexts(1) == [
        *("shape=x-d", "shape|suf1=x-d|1", "shape|suf2=x-d|-1", "shape|suf3=x-d|g-1", "shape|suf4=x-d|og-1"),
        "w=dog-1",
    ]


def test_names_of_columns():
    names = SentenceNames(["a", "b"], {"pos": ["X", "Y"]})
    assert names.features(1)[12:] == [
        *("pos-2=<start>", "pos-1=X", "pos=Y", "pos+1=<end>", "pos+2=<end>", "pos-2|pos-1=<start>|X", "pos-1|pos=X|Y"),
        *("pos|pos+1=Y|<end>", "pos+1|pos+2=<end>|<end>", "pos-2|pos-1|pos=<start>|X|Y", "pos-1|pos|pos+1=X|Y|<end>"),
        "pos|pos+1|pos+2=Y|<end>|<end>",
    ]
    assert names.contexts(0)[-2:] == ["shape|suf4|pos=x|a|X", "w|pos=a|X"]
    assert "bias" in names.features(0)


@pytest.mark.parametrize("n_columns", [0, 1, 2])
def test_templates_have_numbers_of_their_own(n_columns):
    numbers = [template.number for template in (*token_templates(n_columns), *context_templates(n_columns))]
    assert len(set(numbers)) == len(numbers)
    pieces = [piece.part for template in token_templates(n_columns) for piece in template.pieces]
    assert max(pieces) == (PARTS - 1 if not n_columns else PARTS + n_columns - 1)


def test_parts_are_as_many_as_the_kernels():
    data, lengths = encode_texts(["ab"])
    from streamlin.tagging.templates import character_classes

    assert hash_parts(data, lengths, data, lengths, character_classes()).shape[1] == len(part_texts("ab"))
