"""Spans of tags, counted as conlleval does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlin.evaluation.tag_spans import count_spans, span_tags
from tests.naive_spans import Spans, chunks, compared

TYPES = ("PER", "LOC")
CONLL_2000 = "B-NP B-VP B-NP I-NP I-NP I-NP B-VP I-VP B-PP B-NP I-NP I-NP I-NP B-PP B-NP O"
EVERY = ["O", *(f"{prefix}-{type_}" for prefix in "BIES" for type_ in TYPES)]


def counted(truth, guess) -> Spans:
    """What the kernel finds in one sentence."""
    names = sorted({tag for tag in (*truth, *guess) if tag is not None} | {"B-PER"})
    tags = span_tags(names)
    found = np.full(3, -1, np.int64)
    codes = [np.array([-1 if tag is None else names.index(tag) for tag in own], np.int32) for own in (truth, guess)]
    count_spans(*codes, tags.kinds, tags.types, found)
    return Spans(*found.tolist())


pairs = st.lists(st.tuples(st.sampled_from(EVERY), st.sampled_from([None, *EVERY])), max_size=10)


@given(pairs)
def test_any_tags_are_counted_as_conlleval_does(tokens):
    """Also where prefixes are in no good order; a token without a prediction is outside."""
    truth, guess = zip(*tokens, strict=True) if tokens else ((), ())
    assert counted(truth, guess) == compared(truth, guess)


@st.composite
def segmentations(draw, n):
    """Spans of n tokens that do not overlap: begin, end, type."""
    spans, t = [], 0
    while t < n:
        length = draw(st.integers(1, 3))
        if draw(st.booleans()) and t + length <= n:
            spans.append((t, t + length, draw(st.sampled_from(TYPES))))
            t += length
        else:
            t += 1
    return spans


def iob2(spans, n):
    """B begins each span."""
    tags = ["O"] * n
    for begin, end, type_ in spans:
        tags[begin:end] = [f"B-{type_}"] + [f"I-{type_}"] * (end - begin - 1)
    return tags


def iob(spans, n):
    """B begins a span only behind another one of its type."""
    tags, ends = ["O"] * n, {}
    for begin, end, type_ in spans:
        first = "B" if ends.get(begin) == type_ else "I"
        tags[begin:end] = [f"{first}-{type_}"] + [f"I-{type_}"] * (end - begin - 1)
        ends[end] = type_
    return tags


def bioes(spans, n):
    """E ends a span, S is one."""
    tags = iob2(spans, n)
    for begin, end, type_ in spans:
        tags[end - 1] = f"{'S' if end - begin == 1 else 'E'}-{type_}"
    return tags


@pytest.mark.parametrize("scheme", [iob, iob2, bioes])
@given(st.data())
def test_spans_are_found_in_every_scheme(scheme, data):
    """Those that are equal in begin, end and type are right."""
    n = data.draw(st.integers(0, 12))
    true, predicted = (data.draw(segmentations(n)) for _ in "12")
    expected = Spans(len(true), len(predicted), len(set(true) & set(predicted)))
    assert counted(scheme(true, n), scheme(predicted, n)) == expected
    assert list(chunks(scheme(true, n))) == true


def test_published_examples():
    """That of seqeval's documentation, F1 0.5; that of CoNLL 2000's description, a whole sentence right."""
    first = counted(
        ["O", "O", "O", "B-MISC", "I-MISC", "I-MISC", "O"], ["O", "O", "B-MISC", "I-MISC", "I-MISC", "I-MISC", "O"]
    )
    second = counted(["B-PER", "I-PER", "O"], ["B-PER", "I-PER", "O"])
    assert (first, second) == (Spans(1, 1, 0), Spans(1, 1, 1))
    tags = CONLL_2000.split()
    assert counted(tags, tags) == Spans(8, 8, 8)


@pytest.mark.parametrize(
    ("truth", "guess", "expected"),
    [
        ("B-PER I-PER", "B-PER I-LOC", (1, 2, 0)),
        ("B-PER I-PER", "I-PER I-PER", (1, 1, 1)),
        ("B-PER B-PER", "B-PER I-PER", (2, 1, 0)),
        ("I-PER B-PER", "I-PER I-PER", (2, 1, 0)),
        ("B-PER O B-PER", "B-PER I-PER I-PER", (2, 1, 0)),
        ("S-PER S-PER", "B-PER B-PER", (2, 2, 2)),
        ("B-PER E-PER I-PER", "B-PER I-PER S-PER", (2, 2, 2)),
        ("O O", "O O", (0, 0, 0)),
    ],
)
def test_spans_by_hand(truth, guess, expected):
    assert counted(truth.split(), guess.split()) == Spans(*expected)


@pytest.mark.parametrize(
    ("names", "kinds", "types"),
    [
        (["O", "B-X", "I-X", "B-Y"], [0, 1, 2, 1], [-1, 0, 0, 1]),
        (["S-X", "E-X"], [4, 3], [0, 0]),
        (["B-a-b", "I-"], [1, 2], [0, 1]),
    ],
)
def test_tags_of_spans_have_a_kind_and_a_type(names, kinds, types):
    tags = span_tags(names)
    assert (tags.kinds.tolist(), tags.types.tolist()) == (kinds, types)


@pytest.mark.parametrize(
    "names", [[], ["O"], ["NOUN", "VERB"], ["O", "B-X", "NN"], ["B", "I"], ["B-X", "X-B"], ["o", "B-X"]]
)
def test_other_tags_mark_no_spans(names):
    assert span_tags(names) is None
