"""Predictions as JSON lines: one kernel writes all lines of a batch into one buffer."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation import Predictions
from streamlin.events import Batch, LabelIndex
from streamlin.kernel import kernel
from streamlin.kernel.byte_buffers import PADDING, concatenate, copy_bytes


class Lines(NamedTuple):
    """Consecutive lines: line i is `text[bounds[i]:bounds[i + 1]]`, including its line feed; bounds int64[n + 1]."""

    text: memoryview
    bounds: NDArray[np.int64]


class PredictionLines:
    """Makes `{"id": …, "predicted": …, "confidence": …, "learners": {…}, "label": …}`, one line per event.

    An event without an id has its `position` instead; one without a label has no `label`. An abstention is null, and so
    is a confidence that can't be computed (scores that overflowed). `template` stands behind it, where log lines have
    templates.
    """

    def __init__(self, learners: Sequence[str], labels: LabelIndex) -> None:
        self._labels = labels
        self._fragments = [b"null"]
        heads = [b', "learners": {', *[b", "] * (len(learners) - 1)]
        names = [head + msgspec.json.encode(name) + b": " for head, name in zip(heads, learners, strict=True)]
        self._texts, self._text_bounds = concatenate([*_PUNCTUATION, *names])

    def encode(self, batch: Batch, predictions: Predictions) -> Lines:
        """The lines of a batch, each with its line feed."""
        predicted, lead, confidences, _ = predictions
        labels, encoded = self._encoded(batch.labels)
        texts = self._texts, self._text_bounds
        return write_lines(batch, predicted, lead, confidences, _marks(batch), labels, encoded, texts)

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
    size += len(keys) + marks[0].size + lead.size * (texts[0].size + SHARE_SIZE) + PADDING
    out, line_bounds = np.empty(size, np.uint8), np.empty(lead.size + 1, np.int64)
    fill_lines(
        np.frombuffer(keys, np.uint8),
        has_id,
        predicted,
        lead,
        shares,
        *marks,
        labels,
        fragments,
        bounds,
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
SHARE_SIZE = 8
"""Maximum number of bytes of a confidence."""


def keys_of(batch: Batch) -> tuple[bytearray, NDArray[np.bool_]]:
    """The ids, or the positions of events without id, as one JSON list and PADDING; and bool[n], which are ids."""
    has_id = np.ones(len(batch), np.bool_)
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


@kernel
def fill_lines(
    keys: NDArray[np.uint8],
    has_id: NDArray[np.bool_],
    predicted: NDArray[np.int32],
    lead: NDArray[np.int32],
    confidences: NDArray[np.float64],
    marks: NDArray[np.uint8],
    mark_bounds: NDArray[np.int64],
    labels: NDArray[np.int32],
    fragments: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    texts: NDArray[np.uint8],
    text_bounds: NDArray[np.int64],
    out: NDArray[np.uint8],
    line_bounds: NDArray[np.int64],
) -> None:
    """Write the lines of n events to `out`, which is large enough, and their bounds to `line_bounds` [n + 1].

    All byte arrays, `out` too, end with PADDING unused bytes.

    keys : a JSON list of n strings.
    confidences [n] : 0 to 1, or NaN. marks, mark_bounds [n + 1] : the text behind each.
    predicted [L, n], labels [n] : codes; the JSON of code c is fragments[bounds[c + 1]:bounds[c + 2]].
    texts, text_bounds : in the same form, `_PUNCTUATION`, then the text before each learner's prediction.
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
    millionths = int(share * 1e6 + 0.5)
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
