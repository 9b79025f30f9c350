"""Predictions as JSON lines, written as columns: one kernel fills one buffer a batch."""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation import Predictions
from streamlin.events import Batch, LabelIndex
from streamlin.kernel import kernel


class PredictionLines:
    """Makes `{"id": …, "predicted": …, "confidence": …, "learners": {…}, "label": …}`, a line an event.

    `position` stands where the event has no id, `label` only where there is one, null for an abstention.
    """

    def __init__(self, learners: Sequence[str], labels: LabelIndex) -> None:
        self._labels = labels
        self._fragments = [b"null"]
        heads = [b'"learners": {', *[b", "] * (len(learners) - 1)]
        pieces = [head + msgspec.json.encode(name) + b": " for head, name in zip(heads, learners, strict=True)]
        self._names, self._name_bounds = _joined(pieces)

    def encode(self, batch: Batch, predictions: Predictions) -> memoryview:
        """The lines of a batch, each with its line feed."""
        predicted, lead, confidences = predictions
        labels, shown = self._shown(batch.labels)
        fragments, bounds = _joined(shown)
        keys, has_id = _keys(batch)
        lengths = np.diff(bounds)
        size = int(lengths[predicted + 1].sum() + lengths[labels + 1].sum() + lengths[predicted.max(0) + 1].sum())
        size += int(lengths[predicted[lead, np.arange(lead.size)] + 1].sum())
        size += len(keys) + lead.size * (self._names.size + _FIXED)
        out = np.empty(size, np.uint8)
        used = fill_lines(
            np.frombuffer(keys, np.uint8),
            has_id,
            predicted,
            lead,
            confidences,
            labels,
            fragments,
            bounds,
            self._names,
            self._name_bounds,
            *_LITERALS,
            out,
        )
        return memoryview(out)[:used]

    def _shown(self, labels: Sequence[str | None]) -> tuple[NDArray[np.int32], list[bytes]]:
        """Codes of the labels, and the JSON of what codes -1, 0, … stand for; labels not learned come last."""
        for name in self._labels.names[len(self._fragments) - 1 :]:
            self._fragments.append(msgspec.json.encode(name))
        codes = self._labels.codes(labels)
        unknown = [i for i in np.flatnonzero(codes < 0) if labels[i] is not None]
        codes[unknown] = np.arange(len(unknown), dtype=np.int32) + len(self._fragments) - 1
        return codes, [*self._fragments, *(msgspec.json.encode(labels[i]) for i in unknown)]


_LITERALS = tuple(
    np.frombuffer(text, np.uint8)
    for text in (b'{"id": ', b'{"position": ', b', "predicted": ', b', "confidence": ', b', "label": ', b"null")
)
_FIXED = sum(literal.size for literal in _LITERALS) + 32


def _keys(batch: Batch) -> tuple[bytes, NDArray[np.bool_]]:
    """The ids, or positions where there is none, as one JSON list; and bool[n], which are ids."""
    ids = batch.ids
    if None not in ids:
        return msgspec.json.encode(ids), np.ones(len(ids), np.bool_)
    names = [batch.records.name(batch.kept[i]) if key is None else key for i, key in enumerate(ids)]
    return msgspec.json.encode(names), np.array([key is not None for key in ids], np.bool_)


def _joined(pieces: Sequence[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The pieces end to end, and int64[len + 1], where each begins."""
    bounds = np.zeros(len(pieces) + 1, np.int64)
    np.cumsum([len(piece) for piece in pieces], out=bounds[1:])
    return np.frombuffer(b"".join(pieces), np.uint8), bounds


@kernel
def fill_lines(keys, has_id, predicted, lead, confidences, labels, fragments, bounds, names, name_bounds, id_, position, predicted_, confidence_, label_, null, out):  # type: ignore[no-untyped-def]  # fmt: skip
    """Write the lines of n events to out uint8[≥ needed]; returns the bytes used.

    keys uint8: a JSON list of n strings. predicted int32[L, n], labels int32[n]: codes, JSON of code c is
    fragments[bounds[c + 1]:bounds[c + 2]]. names: what comes before each learner's prediction, likewise.
    """
    at, key = 0, 1
    for i in range(lead.size):
        at = put(out, at, id_ if has_id[i] else position, 0, id_.size if has_id[i] else position.size)
        end = string_end(keys, key)
        at = put(out, at, keys, key, end)
        key = end + 1
        at = put(out, at, predicted_, 0, predicted_.size)
        code = predicted[lead[i], i]
        at = put(out, at, fragments, bounds[code + 1], bounds[code + 2])
        at = put(out, at, confidence_, 0, confidence_.size)
        if code < 0:
            at = put(out, at, null, 0, null.size)
        else:
            at = put_share(out, at, confidences[i])
        out[at], out[at + 1] = 0x2C, 0x20  # ", "
        at += 2
        for m in range(predicted.shape[0]):
            at = put(out, at, names, name_bounds[m], name_bounds[m + 1])
            code = predicted[m, i]
            at = put(out, at, fragments, bounds[code + 1], bounds[code + 2])
        out[at] = 0x7D  # }
        at += 1
        if labels[i] >= 0:
            at = put(out, at, label_, 0, label_.size)
            at = put(out, at, fragments, bounds[labels[i] + 1], bounds[labels[i] + 2])
        out[at], out[at + 1] = 0x7D, 0x0A
        at += 2
    return at


@kernel
def put(out, at, source, begin, end):  # type: ignore[no-untyped-def]
    """Copy source[begin:end] to out[at:]; returns where it ends."""
    for j in range(begin, end):
        out[at + j - begin] = source[j]
    return at + end - begin


@kernel
def string_end(text, begin):  # type: ignore[no-untyped-def]
    """Behind the JSON string that begins at text[begin]."""
    end = begin + 1
    while text[end] != 0x22:
        end += 2 if text[end] == 0x5C else 1
    return end + 1


@kernel
def put_share(out, at, share):  # type: ignore[no-untyped-def]
    """Write a number from 0 to 1 with one to six decimals; returns where it ends."""
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
