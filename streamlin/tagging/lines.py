"""Predictions of taggers as JSON lines: one kernel writes all lines of a batch into one buffer."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.tagging import TagPredictions
from streamlin.events import Batch, Distinct, LabelIndex
from streamlin.kernel import kernel
from streamlin.kernel.byte_buffers import PADDING, concatenate, copy_bytes
from streamlin.streams.prediction_lines import (
    DECIMAL_SIZE,
    SHARE_SIZE,
    Lines,
    keys_of,
    measure_head,
    put,
    put_decimal,
    put_number,
    put_share,
    string_end,
)

_PUNCTUATION = (
    *(b'{"id": ', b'{"position": ', b', "predicted": [', b'], "confidence": ', b"null", b", ", b', "tags": ['),
    *(b"]}\n", b"]}}\n", b', "token_confidence": [', b', "start": [', b', "end": [', b"]", b"]}"),
)
(
    _ID,
    _POSITION,
    _PREDICTED,
    _SHARE,
    _NULL,
    _COMMA,
    _TAGS,
    _END,
    _LEARNERS_END,
    _TOKENS,
    _START,
    _STOP,
    _CLOSE,
    _BRACES,
) = range(14)
_FIRST_LEARNER = 14
_TOKEN_SIZE, _NUMBER_SIZE = SHARE_SIZE + 2, 20


class TagLines:
    """Makes `{"id": …, "predicted": […], "confidence": …, "learners": {…}, "tags": […]}`, one line per sentence.

    An unknown tag is null; a sentence without any has no `tags`. Measures that are asked for follow `confidence`, then
    the probabilities of tokens, `token_confidence`; sentences that were texts then have `start` and `end`, the places
    of their tokens in the text.
    """

    def __init__(self, learners: Sequence[str], labels: LabelIndex, measures: Sequence[str] = ()) -> None:
        self._labels = labels
        self._fragments = [b"null"]
        heads = [b', "learners": {', *[b"], "] * (len(learners) - 1)]
        names = [head + msgspec.json.encode(name) + b": [" for head, name in zip(heads, learners, strict=True)]
        self._texts, self._text_bounds = concatenate(
            [*_PUNCTUATION, *names, *(measure_head(name) for name in measures)]
        )

    def encode(self, batch: Batch, predictions: TagPredictions) -> Lines:
        """The lines of a batch, each with its line feed."""
        assert batch.pieces is not None
        assert batch.tokens is not None
        codes, encoded = self._encoded(batch.tokens.distinct_tags)
        fragments, bounds = concatenate(encoded)
        keys, has_id = keys_of(batch)
        offsets = np.zeros((0, 2), np.int64) if batch.tokens.offsets is None else batch.tokens.offsets
        shares = np.zeros(0, np.float32)
        sentences = batch.pieces
        if predictions.token_confidences.shape[1]:
            lead = np.repeat(predictions.lead, np.diff(sentences))
            shares = predictions.token_confidences[lead, np.arange(lead.size)]
        n, m = len(batch), codes.size
        longest = int(np.diff(bounds).max()) + 2
        size = len(keys) + n * (self._texts.size + SHARE_SIZE) + m * longest * (predictions.tags.shape[0] + 2) + PADDING
        size += shares.size * _TOKEN_SIZE + offsets.size * _NUMBER_SIZE
        size += predictions.measures.size * DECIMAL_SIZE
        out, line_bounds = np.empty(size, np.uint8), np.empty(n + 1, np.int64)
        confidences = predictions.confidences[predictions.lead, np.arange(n)]
        columns = _Columns(
            sentences, predictions.tags, predictions.lead, confidences, predictions.measures, codes, shares, offsets
        )
        texts = _Texts(fragments, bounds, self._texts, self._text_bounds)
        fill_tag_lines(np.frombuffer(keys, np.uint8), has_id, columns, texts, out, line_bounds)
        text = memoryview(out[: line_bounds[-1]])  # type: ignore[arg-type]  # numpy's arrays are buffers from Python 3.12 on
        return Lines(text, line_bounds)

    def _encoded(self, tags: Distinct) -> tuple[NDArray[np.int32], list[bytes]]:
        """Codes of the tags, and the JSON that codes -1, 0, … stand for; tags not learned come last."""
        for name in self._labels.names[len(self._fragments) - 1 :]:
            self._fragments.append(msgspec.json.encode(name))
        codes = self._labels.codes(tags.values)
        unknown = np.flatnonzero(codes < 0)
        codes[unknown] = np.arange(unknown.size) + len(self._fragments) - 1
        added = [msgspec.json.encode(tags.values[code]) for code in unknown.tolist()]
        return tags.coded(codes), [*self._fragments, *added]


class _Columns(NamedTuple):
    """What lines are made of: n sentences of m tokens; see `TagPredictions` and `TagLines.encode`."""

    bounds: NDArray[np.int64]
    tags: NDArray[np.int32]
    lead: NDArray[np.int32]
    confidences: NDArray[np.float64]
    measures: NDArray[np.float64]
    codes: NDArray[np.int32]
    shares: NDArray[np.float32]
    offsets: NDArray[np.int64]


class _Texts(NamedTuple):
    """The JSON of tags, and the text between values, each in one buffer with its bounds."""

    fragments: NDArray[np.uint8]
    fragment_bounds: NDArray[np.int64]
    texts: NDArray[np.uint8]
    text_bounds: NDArray[np.int64]


@kernel
def fill_tag_lines(
    keys: NDArray[np.uint8],
    has_id: NDArray[np.bool_],
    columns: _Columns,
    texts: _Texts,
    out: NDArray[np.uint8],
    line_bounds: NDArray[np.int64],
) -> None:
    """Write the lines of n sentences to `out`, which is large enough, and their bounds to `line_bounds` [n + 1].

    keys : a JSON list of n strings. All byte arrays end with PADDING unused bytes.
    """
    at, key = 0, 1
    line_bounds[0] = 0
    for i in range(columns.lead.size):
        begin, end, lead = columns.bounds[i], columns.bounds[i + 1], columns.lead[i]
        at = put(out, at, texts.texts, texts.text_bounds, _ID if has_id[i] else _POSITION)
        key_end = string_end(keys, key)
        at = copy_bytes(keys, key, key_end, out, at)
        key = key_end + 1
        at = put(out, at, texts.texts, texts.text_bounds, _PREDICTED)
        at = put_tags(columns.tags[lead], begin, end, texts, out, at)
        at = put(out, at, texts.texts, texts.text_bounds, _SHARE)
        at = put_known_share(columns.confidences[i], texts, out, at)
        for k in range(columns.measures.shape[0]):
            at = put(out, at, texts.texts, texts.text_bounds, _FIRST_LEARNER + columns.tags.shape[0] + k)
            value = columns.measures[k, i]
            known = not np.isnan(value)
            at = put_decimal(out, at, value) if known else put(out, at, texts.texts, texts.text_bounds, _NULL)
        at = put_shares(columns, begin, end, texts, out, at)
        at = put_places(columns, begin, end, 0, texts, out, at)
        at = put_places(columns, begin, end, 1, texts, out, at)
        for m in range(columns.tags.shape[0]):
            at = put(out, at, texts.texts, texts.text_bounds, _FIRST_LEARNER + m)
            at = put_tags(columns.tags[m], begin, end, texts, out, at)
        tagged = False
        for t in range(begin, end):
            tagged = tagged or columns.codes[t] >= 0
        if tagged:
            at = put(out, at, texts.texts, texts.text_bounds, _BRACES)
            at = put(out, at, texts.texts, texts.text_bounds, _TAGS)
            at = put_tags(columns.codes, begin, end, texts, out, at)
            at = put(out, at, texts.texts, texts.text_bounds, _END)
        else:
            at = put(out, at, texts.texts, texts.text_bounds, _LEARNERS_END)
        line_bounds[i + 1] = at


@kernel
def put_tags(codes: NDArray[np.int32], begin: int, end: int, texts: _Texts, out: NDArray[np.uint8], at: int) -> int:
    """Write tags, separated by commas; returns their end."""
    for t in range(begin, end):
        if t > begin:
            at = put(out, at, texts.texts, texts.text_bounds, _COMMA)
        at = put(out, at, texts.fragments, texts.fragment_bounds, codes[t] + 1)
    return at


@kernel
def put_known_share(share: float, texts: _Texts, out: NDArray[np.uint8], at: int) -> int:
    """Write a probability, or null for NaN; returns its end."""
    if np.isnan(share):
        return put(out, at, texts.texts, texts.text_bounds, _NULL)
    return put_share(out, at, share)


@kernel
def put_shares(columns: _Columns, begin: int, end: int, texts: _Texts, out: NDArray[np.uint8], at: int) -> int:
    """Write the probabilities of tokens, if they are wanted; returns their end."""
    if not columns.shares.size or begin == end:
        return at
    at = put(out, at, texts.texts, texts.text_bounds, _TOKENS)
    for t in range(begin, end):
        if t > begin:
            at = put(out, at, texts.texts, texts.text_bounds, _COMMA)
        at = put_known_share(np.float64(columns.shares[t]), texts, out, at)
    return put(out, at, texts.texts, texts.text_bounds, _CLOSE)


@kernel
def put_places(
    columns: _Columns, begin: int, end: int, side: int, texts: _Texts, out: NDArray[np.uint8], at: int
) -> int:
    """Write where tokens begin (side 0) or end (1) in their text, if the sentence was one; returns their end."""
    if not columns.offsets.size or begin == end or columns.offsets[begin, 0] < 0:
        return at
    at = put(out, at, texts.texts, texts.text_bounds, _START if side == 0 else _STOP)
    for t in range(begin, end):
        if t > begin:
            at = put(out, at, texts.texts, texts.text_bounds, _COMMA)
        at = put_number(columns.offsets[t, side], out, at)
    return put(out, at, texts.texts, texts.text_bounds, _CLOSE)
