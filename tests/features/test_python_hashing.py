"""What Python hashes while the kernel is compiled, compared with the kernel."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlin.config import ViewConfig
from streamlin.events import Batch
from streamlin.features import View
from streamlin.features.hashing import hash_texts
from streamlin.features.murmur3 import hashes_of
from streamlin.features.python_hashing import hash_texts_in_python
from tests import naive_features
from tests.features.batches import batch_of, configs, texts
from tests.integration.streams import real_events
from tests.locations import DATA


def assert_hashed_alike(view: View, batch: Batch) -> None:
    arguments = *view.encode_batches([batch]), *view.hash_options
    bounds, *theirs = hash_texts(*arguments)
    own_bounds, *ours = hash_texts_in_python(*arguments)
    np.testing.assert_array_equal(own_bounds, bounds)
    for own, other in zip(ours, theirs, strict=True):
        assert own.dtype == other.dtype
        np.testing.assert_array_equal(own, other[: bounds[-1]])


@settings(max_examples=500)
@given(st.lists(st.lists(texts, max_size=3), max_size=5), configs, st.integers(1, 31), st.data())
def test_python_hashes_like_the_kernel(pieces, config, bits, draw):
    names = draw.draw(st.lists(st.none() | texts, min_size=len(pieces), max_size=len(pieces)))
    assert_hashed_alike(View(config, bits, ["place"]), batch_of(pieces, {"place": names}))


def test_real_texts_in_all_forms():
    for stream in ("spamassassin", "langid-ud", "thucnews-titles-zh"):
        found = [[event["text"]] for event in real_events(DATA / f"{stream}.jsonl.gz", 60)]
        for tokens, ngrams in (("words", (1, 2)), ("char_wb", (1, 5)), ("first", (1, 1)), ("shape", (1, 1))):
            view = View(ViewConfig(tokens=tokens, ngrams=ngrams, lowercase=tokens == "words", values="log"))
            assert_hashed_alike(view, batch_of(found))


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_hashes_of_many_at_once(some):
    assert hashes_of(some).tolist() == [naive_features.murmur3_32(text) for text in some]
