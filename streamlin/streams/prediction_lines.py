"""Predictions as JSON lines: one kernel writes all lines of a batch into one buffer."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation import Predictions
from streamlin.evaluation.predictions import Asked
from streamlin.events import Batch, LabelIndex
from streamlin.kernel import kernel
from streamlin.kernel.byte_buffers import PADDING, Utf8Texts, concatenate, copy_bytes
from streamlin.kernel.late import late_kernel


class Lines(NamedTuple):
    """Consecutive lines: line i is `text[bounds[i]:bounds[i + 1]]`, including its line feed; bounds int64[n + 1]."""

    text: memoryview
    bounds: NDArray[np.int64]


class PredictionLines:
    """Makes `{"id": …, "predicted": …, "confidence": …, "learners": {…}, "label": …}`, one line per event.

    Where labels are asked for, `"asked": …, "probability": …` stand behind the confidence.

    An event without an id has its `position` instead; one without a label has no `label`. An abstention is null, and so
    is a confidence that can't be computed (scores that overflowed). Measures stand behind the confidence, null for NaN,
    then the `template` of a log line.
    """

    def __init__(self, learners: Sequence[str], labels: LabelIndex, measures: Sequence[str] = ()) -> None:
        self._labels = labels
        self._fragments = [b"null"]
        heads = [b', "learners": {', *[b", "] * (len(learners) - 1)]
        names = [head + msgspec.json.encode(name) + b": " for head, name in zip(heads, learners, strict=True)]
        self._own_texts = [*_PUNCTUATION, *names, *(measure_head(name) for name in measures)]
        self._texts, self._text_bounds = concatenate(self._own_texts)

    def encode(self, batch: Batch, predictions: Predictions) -> Lines:
        """The lines of a batch, each with its line feed."""
        predicted, lead, confidences, _, measures, asked = predictions
        texts, text_bounds, asks = self._texts, self._text_bounds, NO_ASKS
        if asked is not None:
            said, asks = _asks(asked)
            texts, text_bounds = concatenate([*self._own_texts, *said])
            asks += len(self._own_texts)
        labels, encoded = self._encoded(batch.labels)
        return write_lines(
            *(batch, predicted, lead, confidences, measures, asks, _marks(batch)),
            *(labels, encoded, (texts, text_bounds)),
        )

    def _encoded(self, labels: Sequence[str | None]) -> tuple[NDArray[np.int32], list[bytes]]:
        """Codes of the labels, and the JSON that codes -1, 0, … stand for; labels not learned yet come last."""
        for name in self._labels.names[len(self._fragments) - 1 :]:
            self._fragments.append(msgspec.json.encode(name))
        codes = self._labels.codes(labels)
        unknown = [i for i in np.flatnonzero(codes < 0).tolist() if labels[i] is not None]
        codes[unknown] = np.arange(len(unknown), dtype=np.int32) + len(self._fragments) - 1
        return codes, [*self._fragments, *(msgspec.json.encode(labels[i]) for i in unknown)]


Pieces = tuple[NDArray[np.uint8], NDArray[np.int64]]
"""Texts one behind the other, and their bounds."""


def write_lines(
    batch: Batch,
    predicted: NDArray[np.int32],
    lead: NDArray[np.int32],
    shares: NDArray[np.float64],
    measures: NDArray[np.float64],
    asks: NDArray[np.int64],
    marks: Pieces,
    labels: NDArray[np.int32],
    values: Sequence[bytes],
    texts: Pieces,
) -> Lines:
    """The lines of a batch; see `fill_lines`. values : the JSON that codes -1, 0, … stand for."""
    fragments, bounds = concatenate(values)
    keys, has_id = keys_of(batch)
    lengths = np.diff(bounds)
    given_out = predicted[lead, np.arange(lead.size)]
    size = int(lengths[predicted + 1].sum() + lengths[labels + 1].sum() + lengths[given_out + 1].sum())
    size += len(keys) + marks[0].size + measures.size * DECIMAL_SIZE + PADDING
    size += lead.size * (texts[0].size + SHARE_SIZE)
    out, line_bounds = np.empty(size, np.uint8), np.empty(lead.size + 1, np.int64)
    fill_lines(
        np.frombuffer(keys, np.uint8),
        has_id,
        predicted,
        lead,
        shares,
        measures,
        *marks,
        labels,
        fragments,
        bounds,
        asks,
        *texts,
        out,
        line_bounds,
    )
    text = memoryview(out[: line_bounds[-1]])  # type: ignore[arg-type]  # numpy's arrays are buffers from Python 3.12 on
    return Lines(text, line_bounds)


_PUNCTUATION = (
    b'{"id": ',
    b'{"position": ',
    b', "predicted": ',
    b', "confidence": ',
    b"null",
    b'}, "label": ',
    b"}}\n",
    b"}\n",
)
_NO_MARKS = np.zeros(PADDING, np.uint8)
_ENCODER = msgspec.json.Encoder()
_ID, _POSITION, _PREDICTED, _SHARE, _NULL, _LABEL, _END, _LABELLED_END, _FIRST_LEARNER = range(9)
SHARE_SIZE, DECIMAL_SIZE = 8, 17
"""Maximum number of bytes of a confidence, and of a measure."""
NO_ASKS = np.empty(0, np.int64)


def measure_head(name: str) -> bytes:
    """The text before a measure."""
    return b", " + msgspec.json.encode(name) + b": "


def _asks(asked: Asked) -> tuple[list[bytes], NDArray[np.int64]]:
    """The texts about asking, and int64[n], which of them each event has."""
    signed = np.where(asked.reasons > 0, asked.probabilities, -asked.probabilities)
    values, numbers = np.unique(signed, return_inverse=True)
    kinds = [b"true" if value > 0 else b"false" for value in values]
    texts = [
        b', "asked": %b, "probability": %b' % (kind, msgspec.json.encode(abs(value)))
        for kind, value in zip(kinds, values.tolist(), strict=True)
    ]
    return texts, numbers.astype(np.int64)


def keys_of(batch: Batch) -> tuple[bytearray, NDArray[np.bool_]]:
    """The ids, or the positions of events without id, as one JSON list and PADDING; and bool[n], which are ids."""
    has_id = np.ones(len(batch), np.bool_)
    if isinstance(batch.ids, Utf8Texts) and batch.ids.plain:
        return batch.ids.json() + bytes(PADDING), has_id
    if None in batch.ids:
        has_id = np.array([id_ is not None for id_ in batch.ids], np.bool_)
    keys = bytearray()
    _ENCODER.encode_into(batch.keys(), keys)
    keys += bytes(PADDING)
    return keys, has_id


def _marks(batch: Batch) -> Pieces:
    """What stands behind the confidence of each event, and its bounds: the templates of log lines."""
    if batch.templates is None:
        return _NO_MARKS, np.zeros(len(batch) + 1, np.int64)
    return concatenate(
        [
            b""
            if one is None
            else b', "template": {"number": %b, "text": %b, "new": %b}' % tuple(map(_ENCODER.encode, one.values()))
            for one in batch.templates.to_json()
        ]
    )


@late_kernel
def fill_lines(
    keys: NDArray[np.uint8],
    has_id: NDArray[np.bool_],
    predicted: NDArray[np.int32],
    lead: NDArray[np.int32],
    confidences: NDArray[np.float64],
    measures: NDArray[np.float64],
    marks: NDArray[np.uint8],
    mark_bounds: NDArray[np.int64],
    labels: NDArray[np.int32],
    fragments: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    asks: NDArray[np.int64],
    texts: NDArray[np.uint8],
    text_bounds: NDArray[np.int64],
    out: NDArray[np.uint8],
    line_bounds: NDArray[np.int64],
) -> None:
    """Write the lines of n events to `out`, which is large enough, and their bounds to `line_bounds` [n + 1].

    All byte arrays, `out` too, end with PADDING unused bytes.

    keys : a JSON list of n strings.
    confidences [n] : 0 to 1, or NaN. measures [k, n] : 0 to 1e9, or NaN.
    marks, mark_bounds [n + 1] : the text behind these, such as that of a template.
    predicted [L, n], labels [n] : codes; the JSON of code c is fragments[bounds[c + 1]:bounds[c + 2]].
    asks [n], or empty : the text behind each confidence and its measures.
    texts, text_bounds : in the same form, `_PUNCTUATION`, then the text before each learner's prediction, and before
        each measure, then others.
    """
    at, key = 0, 1
    line_bounds[0] = 0
    for i in range(lead.size):
        at = put(out, at, texts, text_bounds, _ID if has_id[i] else _POSITION)
        end = string_end(keys, key)
        at = copy_bytes(keys, key, end, out, at)
        key = end + 1
        at = put(out, at, texts, text_bounds, _PREDICTED)
        code = predicted[lead[i], i]
        at = put(out, at, fragments, bounds, code + 1)
        at = put(out, at, texts, text_bounds, _SHARE)
        at = put(out, at, texts, text_bounds, _NULL) if np.isnan(confidences[i]) else put_share(out, at, confidences[i])
        for k in range(measures.shape[0]):
            at = put(out, at, texts, text_bounds, _FIRST_LEARNER + predicted.shape[0] + k)
            value = measures[k, i]
            at = put(out, at, texts, text_bounds, _NULL) if np.isnan(value) else put_decimal(out, at, value)
        if asks.size > 0:
            at = put(out, at, texts, text_bounds, asks[i])
        at = put(out, at, marks, mark_bounds, i)
        for m in range(predicted.shape[0]):
            at = put(out, at, texts, text_bounds, _FIRST_LEARNER + m)
            at = put(out, at, fragments, bounds, predicted[m, i] + 1)
        if labels[i] < 0:
            at = put(out, at, texts, text_bounds, _END)
        else:
            at = put(out, at, texts, text_bounds, _LABEL)
            at = put(out, at, fragments, bounds, labels[i] + 1)
            at = put(out, at, texts, text_bounds, _LABELLED_END)
        line_bounds[i + 1] = at


@kernel
def put(out: NDArray[np.uint8], at: int, texts: NDArray[np.uint8], bounds: NDArray[np.int64], number: int) -> int:
    """Copy text `number` of several to out[at:]; returns the end of the copy."""
    return copy_bytes(texts, bounds[number], bounds[number + 1], out, at)


@kernel
def string_end(
    text: NDArray[np.uint8],
    begin: int,
) -> int:
    """One past the end of the JSON string that begins at text[begin]."""
    end = begin + 1
    while text[end] != 0x22:
        end += 2 if text[end] == 0x5C else 1
    return end + 1


@kernel
def put_share(
    out: NDArray[np.uint8],
    at: int,
    share: float,
) -> int:
    """Write a number from 0 to 1 with one to six decimals; returns its end."""
    return put_millionths(out, at, int(share * 1e6 + 0.5))


@kernel
def put_decimal(
    out: NDArray[np.uint8],
    at: int,
    value: float,
) -> int:
    """Write a number from 0 to 1e9 with one to six decimals; returns its end."""
    millionths = int(value * 1e6 + 0.5)
    if millionths >= 10_000_000:
        at = put_number(millionths // 10_000_000, out, at)
    return put_millionths(out, at, millionths % 10_000_000)


@kernel
def put_millionths(
    out: NDArray[np.uint8],
    at: int,
    millionths: int,
) -> int:
    """Write a number below 10, given in millionths, with one to six decimals; returns its end."""
    out[at], out[at + 1] = 0x30 + millionths // 1_000_000, 0x2E
    rest = millionths % 1_000_000
    last = at + 2
    for place in range(at + 2, at + 8):
        rest *= 10
        digit = rest // 1_000_000
        rest -= digit * 1_000_000
        out[place] = 0x30 + digit
        if digit:
            last = place
    return last + 1


@kernel
def put_number(number: int, out: NDArray[np.uint8], at: int) -> int:
    """Write a whole number, 0 or more; returns its end."""
    digits = 1
    rest = number // 10
    while rest:
        rest //= 10
        digits += 1
    for place in range(at + digits - 1, at - 1, -1):
        out[place] = 0x30 + number % 10
        number //= 10
    return at + digits
