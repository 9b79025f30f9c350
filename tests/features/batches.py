"""Batches and strategies that the tests of features share."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from streamlin.config import ViewConfig
from streamlin.config.features import WITHOUT_NGRAMS
from streamlin.events import Batch, single_records
from streamlin.features import Buckets

HARD = (
    "aB1_ .,-\n\t\r\x00\x1c\x1f\x7f\x85\u2028\u00a0\u3000İIıΣσςßǺéÅ中文テあกิ่अक्षि👩👧\u200d🏽٣²ǅ𝒜\ufe0f\u0307\U0010ffff"
    "\u200c\u200b\u00ad\u202e\u0301\u0302\u20e3ﬁＡㅏ가\u1100\u1161\u11a8ｶﾞ\u0915\u093f\u0e33"
)
"""Characters that are hard for lower-casing, word classes and UTF-8."""

texts = st.text(st.sampled_from(HARD) | st.characters(exclude_categories=["Cs"]), max_size=60)
ngram_configs = st.builds(
    ViewConfig,
    tokens=st.sampled_from(["words", "scikit-learn", "whitespace", "char_wb"]),
    lowercase=st.booleans(),
    normalize=st.sampled_from(["nfkc", None]),
    ngrams=st.tuples(st.integers(1, 6), st.integers(1, 6)).map(lambda pair: tuple(sorted(pair))),
    values=st.sampled_from(["binary", "counts", "log"]),
)
form_configs = st.builds(
    lambda tokens, lowercase, **keys: ViewConfig(tokens=tokens, lowercase=lowercase and tokens != "shape", **keys),
    st.sampled_from(WITHOUT_NGRAMS),
    st.booleans(),
    normalize=st.sampled_from(["nfkc", None]),
    values=st.sampled_from(["binary", "counts", "log"]),
)
"""Views of first words, first lines, pairs with a gap, shapes."""
configs = ngram_configs | form_configs


def batch_of(pieces: Sequence[Sequence[str]], extra: dict[str, list[str | None]] | None = None) -> Batch:
    """Events of the given pieces of text each, and further fields."""
    n = len(pieces)
    bounds = np.zeros(n + 1, np.int64)
    np.cumsum([len(event) for event in pieces], out=bounds[1:])
    return Batch(
        ids=[None] * n,
        texts=[piece for event in pieces for piece in event],
        labels=[None] * n,
        weights=np.ones(n),
        times=np.full(n, np.nan),
        extra=extra or {},
        records=single_records([b""] * n),
        kept=np.arange(n),
        pieces=bounds,
    )


def listed(buckets: Buckets) -> list[list[tuple[int, float]]]:
    """(bucket, value) of each event, in order."""
    pairs = list(zip(buckets.buckets.tolist(), buckets.values.tolist(), strict=True))
    bounds = buckets.indptr.tolist()
    return [pairs[begin:end] for begin, end in pairwise(bounds)]
