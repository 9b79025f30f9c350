"""(bucket, value) pairs against scikit-learn's HashingVectorizer on texts of all real streams."""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import HashingVectorizer

from streamlin.config import ViewConfig
from streamlin.features import View
from streamlin.features.characters import mark_class

ANY_WORD = rf"(?u)\w[\w{mark_class()}]*"
ANY_TEXT = r"(?u)\S+"


@cache
def streams(data: Path) -> dict[str, list[str]]:
    """The texts of every file; for tagging files the tokens, for trees the brackets."""
    found = {}
    for path in sorted(data.glob("*.jsonl.gz")):
        with gzip.open(path) as lines:
            events = [json.loads(line) for line in lines]
        found[path.name] = [_text(event) for event in events]
    return found


def _text(event: dict[str, Any]) -> str:
    return event["text"] if "text" in event else event["tree"] if "tree" in event else " ".join(event["tokens"])


def assert_equal(texts: list[str], config: ViewConfig, bits: int, options: dict[str, Any]) -> None:
    vectorizer = HashingVectorizer(
        n_features=2**bits,
        alternate_sign=False,
        norm=None,
        ngram_range=config.ngrams,
        binary=config.values == "binary",
        lowercase=config.lowercase,
        **options,
    )
    expected = vectorizer.transform(texts)
    expected.sort_indices()
    indptr, buckets, values = View(config, bits).of_texts(texts)
    assert indptr.tolist() == expected.indptr.tolist()
    order = np.lexsort((buckets, np.repeat(np.arange(len(texts)), np.diff(indptr))))
    np.testing.assert_array_equal(buckets[order], expected.indices)
    np.testing.assert_array_equal(values[order], expected.data)


@pytest.mark.parametrize(
    ("config", "bits", "options"),
    [
        (ViewConfig(tokens="scikit-learn", ngrams=(1, 2), values="counts"), 20, {}),
        (ViewConfig(tokens="words"), 18, {"token_pattern": ANY_WORD}),
    ],
    ids=str,
)
def test_a_tenth_of_every_stream_equals_scikit_learn(
    data: Path, config: ViewConfig, bits: int, options: dict[str, Any]
) -> None:
    found = streams(data)
    assert len(found) == 19
    for texts in found.values():
        assert_equal(texts[::10], config, bits, options)


@pytest.mark.parametrize(
    ("config", "bits", "options"),
    [
        (ViewConfig(tokens="scikit-learn", ngrams=(1, 1), values="binary"), 10, {}),
        (ViewConfig(tokens="scikit-learn", ngrams=(1, 3), values="counts", lowercase=False), 24, {}),
        (ViewConfig(tokens="words", ngrams=(2, 3), values="counts"), 31, {"token_pattern": ANY_WORD}),
        (ViewConfig(tokens="whitespace", ngrams=(1, 2), values="counts"), 1, {"token_pattern": ANY_TEXT}),
        (ViewConfig(tokens="char_wb", ngrams=(2, 3), values="counts"), 20, {"analyzer": "char_wb"}),
        (ViewConfig(tokens="char_wb", ngrams=(3, 5), values="binary", lowercase=False), 20, {"analyzer": "char_wb"}),
    ],
    ids=str,
)
def test_a_sample_of_every_stream_equals_scikit_learn(
    data: Path, config: ViewConfig, bits: int, options: dict[str, Any]
) -> None:
    for texts in streams(data).values():
        assert_equal(texts[:: max(1, len(texts) // 400)], config, bits, options)


def test_bucket_of_the_smallest_int32_hash() -> None:
    """murmur3("aivlts3m") = -2^31, whose absolute value has no int32."""
    for bits in (1, 20, 31):
        assert_equal(["aivlts3m"], ViewConfig(ngrams=(1, 1)), bits, {})
    assert View(bits=31).of_texts(["aivlts3m"]).buckets.tolist() == [0]
