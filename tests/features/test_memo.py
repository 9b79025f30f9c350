"""The memo of tokens changes no feature."""

import threading

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from streamlin.config import ViewConfig
from streamlin.features import View
from streamlin.features.memo import new_memo
from tests.features.batches import texts

words = st.text("ab\x00é中𝒜", min_size=1, max_size=18)
RANGES = st.sampled_from([(1, 5), (3, 3), (2, 9), (6, 6)])


def with_memo(config: ViewConfig, places: int) -> View:
    """A view that remembers so many tokens from its first text on."""
    view = View(config)
    view._memos.append(new_memo(places))
    return view


@given(
    st.lists(st.lists(words, max_size=12).map(" ".join) | texts, max_size=6), RANGES, st.sampled_from([1, 4, 1 << 14])
)
def test_texts_have_the_features_of_a_view_without_memo(some, ngrams, places):
    """Also where tokens push each other out of their place, and where they are too long or have too many n-grams."""
    config = ViewConfig(tokens="char_wb", ngrams=ngrams, lowercase=False, values="counts")
    plain, view = View(config), with_memo(config, places)
    for part in (some, some[::-1], some):
        for ours, theirs in zip(view.of_texts(part), plain.of_texts(part), strict=True):
            assert_array_equal(ours, theirs)
    assert plain._memos == []


def test_a_large_batch_makes_a_memo_that_the_next_one_uses():
    view = View(ViewConfig(tokens="char_wb", ngrams=(1, 5)))
    first = view.of_texts(["some words again"] * 6000)
    [memo] = view._memos
    assert np.count_nonzero(memo.lengths) == 3
    assert_array_equal(view.of_texts(["some words again"]).buckets, first.buckets[: first.indptr[1]])
    assert view._memos[0] is memo


def test_threads_do_not_share_a_memo():
    view = View(ViewConfig(tokens="char_wb", ngrams=(1, 5)))
    streams = [[f"{name}{i % 50} words" for i in range(20_000)] for name in "xyz"]
    expected = [View(ViewConfig(tokens="char_wb", ngrams=(1, 5))).of_texts(own).buckets for own in streams]
    found = [np.zeros(0, np.int32)] * 3

    def hash_all(number: int) -> None:
        for _ in range(3):
            found[number] = view.of_texts(streams[number]).buckets

    threads = [threading.Thread(target=hash_all, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for ours, theirs in zip(found, expected, strict=True):
        assert_array_equal(ours, theirs)
