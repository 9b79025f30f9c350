"""Views of texts, compared with the twin."""

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlin.config import ViewConfig
from streamlin.errors import ConfigError, RecordError
from streamlin.features import Buckets, View
from tests import naive_features as naive
from tests.features.batches import batch_of, configs, listed, texts
from tests.utf8_texts import utf8_texts

EVENTS = st.lists(st.lists(texts, max_size=3), max_size=5)
BITS = st.integers(1, 31)


@settings(max_examples=500)
@given(st.lists(texts, max_size=5), configs, BITS)
def test_texts_equal_the_twin(some: list[str], config: ViewConfig, bits: int) -> None:
    expected = [list(naive.features([text], config, bits).items()) for text in some]
    assert listed(View(config, bits).of_texts(some)) == expected


@settings(max_examples=300)
@given(st.lists(texts, max_size=5), configs, BITS)
def test_texts_in_one_buffer_equal_the_twin(some: list[str], config: ViewConfig, bits: int) -> None:
    expected = [list(naive.features([text], config, bits).items()) for text in some]
    assert listed(View(config, bits).of_texts(utf8_texts(some))) == expected


@given(EVENTS, configs, BITS, st.data())
def test_batches_equal_the_twin(events: list[list[str]], config: ViewConfig, bits: int, draw: st.DataObject) -> None:
    """n-grams stay within a piece, and each category is one more feature."""
    columns = {
        name: draw.draw(st.lists(st.none() | texts, min_size=len(events), max_size=len(events)))
        for name in ("product", "Größe")
    }
    expected = [
        list(naive.features(event, config, bits, {name: column[i] for name, column in columns.items()}).items())
        for i, event in enumerate(events)
    ]
    assert listed(View(config, bits, list(columns)).buckets(batch_of(events, columns))) == expected


@given(EVENTS, configs, st.tuples(st.integers(0, 6), st.integers(0, 6)).map(sorted))
def test_features_of_a_text_do_not_depend_on_the_batch(
    events: list[list[str]], config: ViewConfig, part: list[int]
) -> None:
    begin, end = part
    view = View(config, categories=["place"])
    batch = batch_of(events, {"place": [str(i % 2) for i in range(len(events))]})
    whole = listed(view.buckets(batch))
    assert listed(view.buckets(batch[begin:end])) == whole[begin:end]
    assert [pairs for i in range(len(batch)) for pairs in listed(view.buckets(batch[i : i + 1]))] == whole


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("cl\u2062aim pay\u00adment \u202eabc\u202c", ["claim", "payment", "abc"]),
        ("ﬁle Ｆｕｌｌ ①", ["file", "full", "1"]),
        ("cafe\u0301 e\u200b\u0301", ["café", "é"]),
        ("w\ufe0fin\u034fner", ["winner"]),
        ("\u200b\u200d", []),
    ],
)
def test_nfkc_drops_what_cannot_be_seen(text: str, tokens: list[str]) -> None:
    found = View(ViewConfig(ngrams=(1, 1), normalize="nfkc")).of_texts([text, "plain"]).buckets.tolist()
    assert found == [naive.bucket(token, 20) for token in [*tokens, "plain"]]


def test_types_and_shapes() -> None:
    indptr, buckets, values = View().of_texts(["a b", "", "c"])
    assert (indptr.dtype, buckets.dtype, values.dtype) == (np.int64, np.int32, np.float32)
    assert indptr.tolist() == [0, 3, 3, 4]
    assert buckets.shape == values.shape == (4,)


@pytest.mark.parametrize("text", ["", " \n\t", "\u2028\x85", "…!?"])
def test_texts_without_words_have_no_features(text: str) -> None:
    assert listed(View().of_texts([text, "x", text])) == [[], [(naive.bucket("x", 20), 1.0)], []]


def test_empty_input_has_no_features() -> None:
    for buckets in (View().of_texts([]), View().of_mappings([]), View().buckets(batch_of([]))):
        assert listed(buckets) == []
        assert buckets.indptr.tolist() == [0]


def test_entries_are_in_order_of_first_occurrence() -> None:
    """By position, the shorter n-gram first; a repeat changes nothing."""
    ngrams = ["new", "new york", "york", "york new", "york city", "city"]
    assert listed(View().of_texts(["New York, new York City"])) == [
        [(naive.bucket(ngram, 20), 1.0) for ngram in ngrams]
    ]


@pytest.mark.parametrize(("values", "expected"), [("binary", 1.0), ("counts", 3.0), ("log", np.float32(np.log(4)))])
def test_values(values: str, expected: float) -> None:
    assert View(ViewConfig(values=values, ngrams=(1, 1))).of_texts(["a A a"]).values.tolist() == [expected]


def test_words_in_one_bucket_are_one_feature() -> None:
    """With one bit "a" shares a bucket with "b" or "c"; the value stays 1."""
    text = "a b c d e f"
    assert set(View(ViewConfig(values="binary"), bits=1).of_texts([text]).values.tolist()) == {1.0}
    assert sum(View(ViewConfig(values="counts", ngrams=(1, 1)), bits=1).of_texts([text]).values.tolist()) == 6.0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("İstanbul", ["i\u0307stanbul"]),  # lower-cased to i and a combining dot
        ("हिन्दी में लिखा है", ["हिन्दी", "में", "लिखा", "है"]),
        ("বাংলা ভাষা", ["বাংলা", "ভাষা"]),
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("മലയാളം അവന്\u200d", ["മലയാളം", "അവന്\u200d"]),  # a joiner that ends the word
        ("မြန်မာ ဘာသာ", ["မြန်မာ", "ဘာသာ"]),
        ("ភាសា ខ្មែរ", ["ភាសា", "ខ្មែរ"]),
        ("ภาษา ไทย ที่", ["ภาษา", "ไทย", "ที่"]),
        ("كِتَابٌ جَدِيدٌ", ["كِتَابٌ", "جَدِيدٌ"]),
        ("שָׁלוֹם עֲלֵיכֶם", ["שָׁלוֹם", "עֲלֵיכֶם"]),
        ("می\u200cخواهم بروم", ["می\u200cخواهم", "بروم"]),
        ("cafe\u0301 de\u0301ja\u0300", ["cafe\u0301", "de\u0301ja\u0300"]),
        ("tie\u0302\u0301ng Vie\u0323\u0302t", ["tie\u0302\u0301ng", "vie\u0323\u0302t"]),
        ("\u0301a \u200db\u200c 👩\u200d👧 1\ufe0f\u20e3", ["a", "b\u200c", "1\ufe0f\u20e3"]),  # none begins a word
        ("ΟΔΟΣ ΣΑΣ", ["οδος", "σας"]),  # final sigma
        ("naïve CAFÉ_2", ["naïve", "café_2"]),
        ("中文 テスト", ["中文", "テスト"]),
        ("a\u00a0b\u3000c", ["a", "b", "c"]),
    ],
)
def test_lower_case_and_words_of_all_scripts(text: str, tokens: list[str]) -> None:
    found = View(ViewConfig(ngrams=(1, 1))).of_texts([text]).buckets.tolist()
    assert found == [naive.bucket(token, 20) for token in tokens]


def test_ngrams_do_not_cross_pieces() -> None:
    view = View(ViewConfig(ngrams=(2, 2)))
    assert listed(view.buckets(batch_of([["a b", "c"]]))) == listed(view.of_texts(["a b"]))
    assert listed(view.buckets(batch_of([["a", "b"]]))) == [[]]


def test_a_category_keeps_case_and_blanks() -> None:
    batch = batch_of([["x"], ["x"], ["x"]], {"product": ["Visa Card", None, ""]})
    x, named, empty = (naive.bucket(name, 20) for name in ("x", "product=Visa Card", "product="))
    found = listed(View(categories=["product"]).buckets(batch))
    assert found == [[(x, 1.0), (named, 1.0)], [(x, 1.0)], [(x, 1.0), (empty, 1.0)]]


def test_a_category_is_summed_with_an_equal_word() -> None:
    batch = batch_of([["product=card"]], {"product": ["card"]})
    view = View(ViewConfig(tokens="whitespace", values="counts"), categories=["product"])
    assert listed(view.buckets(batch)) == [[(naive.bucket("product=card", 20), 2.0)]]


def test_a_lone_surrogate_is_a_character() -> None:
    config = ViewConfig(tokens="whitespace", ngrams=(1, 1))
    assert View(config).of_texts(["\ud800x é"]).buckets.tolist() == [
        naive.bucket(token, 20) for token in ("\ud800x", "é")
    ]


def test_a_text_of_five_megabytes() -> None:
    words = [f"word{i % 1000}é" for i in range(500_000)]
    indptr, buckets, values = View(ViewConfig(values="counts", ngrams=(1, 1)), bits=31).of_texts([" ".join(words), "x"])
    assert indptr.tolist() == [0, 1000, 1001]
    assert buckets[:2].tolist() == [naive.bucket("word0é", 31), naive.bucket("word1é", 31)]
    assert values.tolist() == [500.0] * 1000 + [1.0]


def named(mapping: dict[str, float], bits: int) -> Buckets:
    return View(bits=bits).of_mappings([mapping])


@given(st.lists(st.dictionaries(texts, st.integers(-1000, 1000), max_size=8), max_size=4), BITS)
def test_mappings_equal_the_twin(mappings: list[dict[str, float]], bits: int) -> None:
    """Integer values, so that sums are exact in any order."""
    expected = []
    for mapping in mappings:
        sums: dict[int, float] = {}
        for name, value in mapping.items():
            if value:
                at = naive.bucket(name, bits)
                sums[at] = sums.get(at, 0.0) + value
        expected.append(list(sums.items()))
    assert listed(View(bits=bits).of_mappings(mappings)) == expected


def test_named_features_are_not_changed() -> None:
    assert listed(named({"Two Words": 0.1, "": -2, "zero": 0.0}, 20)) == [
        [(naive.bucket("Two Words", 20), float(np.float32(0.1))), (0, -2.0)]
    ]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1e39, "red", None])
def test_a_value_that_is_not_a_number_is_refused(value: Any) -> None:
    message = f"feature 'height' is {value!r}; it must be a finite number in float32"
    with pytest.raises(RecordError, match=re.escape(message)):
        named({"weight": 1.0, "height": value}, 20)


@pytest.mark.parametrize("bits", [0, 32])
def test_bits_out_of_range_are_refused(bits: int) -> None:
    with pytest.raises(ConfigError, match=f"features.bits must be 1 to 31, got {bits}"):
        View(bits=bits)


@given(configs, BITS)
def test_a_pickled_view_is_equal_and_small(config: ViewConfig, bits: int) -> None:
    view = View(config, bits, ["place"])
    kept = pickle.dumps(view)
    assert len(kept) < 2000
    for copied in (pickle.loads(kept), copy.deepcopy(view), eval(repr(view))):
        assert (copied.config, copied.bits, copied.categories) == (config, bits, ("place",))
        assert listed(copied.of_texts(["Ab c, d"])) == listed(view.of_texts(["Ab c, d"]))


@given(st.lists(texts, min_size=1, max_size=5), st.lists(st.integers(0, 4), max_size=8))
def test_take_returns_events_in_any_order(some: list[str], chosen: list[int]) -> None:
    found = View().of_texts(some)
    events = [event % len(some) for event in chosen]
    assert listed(found.take(np.array(events, np.int64))) == [listed(found)[event] for event in events]
