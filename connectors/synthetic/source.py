"""Synthetic streams: events drawn by the generative story of multinomial naive Bayes.

A record is the JSON line `{"id": "0", "text": "w12 w7 …", "label": "label1", "optimal": "label0"}`; `optimal` is the
Bayes-optimal prediction; no learner can be expected to exceed its accuracy.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from connectors.synthetic.generative_story import Story, shifted_orders, zipf_shares
from connectors.synthetic.options import SyntheticOptions, parse_options
from streamlin.errors import ConfigError
from streamlin.events import Position, Records, SourceContext

_BLOCK = 1024
"""The number of events that share one seed; changing it changes the stream."""

_PART = "synthetic"
_PARAMETERS, _EVENTS = 0, 1


class SyntheticStream:
    """The lines of a synthetic stream, by number: event i does not depend on the order of the calls."""

    def __init__(self, options: SyntheticOptions) -> None:
        self.options = options
        self.story = Story(
            options.label_shares,
            zipf_shares(options.vocabulary, options.zipf),
            shifted_orders(options.labels, options.vocabulary, options.separation, self._randomness(_PARAMETERS)),
            options.words,
            options.drift,
        )
        self._lines = _LineTable([f"w{i}" for i in range(options.vocabulary)], self.label_names)
        self._block: tuple[int, NDArray[np.void]] = (-1, np.empty(0, np.void))

    @property
    def label_names(self) -> list[str]:
        return [f"label{k}" for k in range(self.options.labels)]

    def lines(self, begin: int, end: int) -> tuple[bytes, NDArray[np.int64]]:
        """The lines of events `begin` to `end` - 1, each with its line feed, and int64[n], their lengths."""
        blocks = range(begin - begin % _BLOCK, end, _BLOCK)
        rows = [self._rows(first // _BLOCK)[max(begin - first, 0) : end - first] for first in blocks]
        return _compact(np.concatenate(rows))

    def _rows(self, block: int) -> NDArray[np.void]:
        if self._block[0] != block:
            randomness = self._randomness(_EVENTS, block)
            numbers = np.arange(block * _BLOCK, (block + 1) * _BLOCK)
            draw = self.story.draw(numbers, randomness)
            labels = np.where(randomness.random(_BLOCK) < self.options.unlabelled, -1, draw.labels)
            self._block = block, self._lines.rows(numbers, draw.words, labels, draw.optimal)
        return self._block[1]

    def _randomness(self, *purpose: int) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(np.random.SeedSequence(self.options.seed, spawn_key=purpose)))


class SyntheticSource:
    """`synthetic://?events=100000&labels=4&seed=1`; the options are those of `SyntheticOptions`.

    Positions are event numbers. Raises ConfigError for an option that does not exist or does not fit.
    """

    reference_field = "optimal"
    """A field of each record with a prediction to be evaluated along with the learners'."""

    def __init__(self, address: str, context: SourceContext) -> None:
        if address.partition(":")[2].strip("/"):
            raise ConfigError(f"{address}: takes options only, as in synthetic://?events=1000&labels=4")
        self.stream = SyntheticStream(parse_options(context.options))
        self._next = int(context.positions.get(_PART, {"offset": 0})["offset"])

    def poll(self, limit: int) -> list[Records] | None:
        """The next `limit` events, fewer at the end; None after it."""
        events = self.stream.options.events
        begin, end = self._next, self._next + limit
        if events is not None:
            end = min(end, events)
        if begin >= end:
            return None
        data, lengths = self.stream.lines(begin, end)
        nexts = np.cumsum(lengths)
        numbers = np.arange(begin, end)
        self._next = end
        return [Records(data[:-1], nexts - lengths, nexts - 1, numbers, numbers + 1, _PART)]

    def commit(self, positions: Mapping[str, Position], number: int) -> None:
        """Nothing to do: every event can be generated again."""

    def close(self) -> None: ...


def write_jsonl(path: str | Path, **options: Any) -> None:
    """Write a whole stream to a file: `write_jsonl("four.jsonl", events=200_000, labels=4)`.

    Raises ConfigError for invalid options, and for an endless stream.
    """
    stream = SyntheticStream(parse_options({name: str(value) for name, value in options.items()}))
    events = stream.options.events
    if events is None:
        raise ConfigError("synthetic://: an endless stream can't be written to a file; set events to a number above 0")
    with open(path, "wb") as file:
        for begin in range(0, events, _BLOCK):
            file.write(stream.lines(begin, min(begin + _BLOCK, events))[0])


class _LineTable:
    """Builds lines as fixed-width rows padded with NUL bytes, which `_compact` removes, without a loop over words."""

    def __init__(self, words: list[str], labels: list[str]) -> None:
        self._words = np.array([f"{word} ".encode() for word in words])
        self._last_words = np.array([word.encode() for word in words])
        self._labels = np.array([*(f'"{label}"'.encode() for label in labels), b"null"])  # -1 is null

    def rows(
        self,
        numbers: NDArray[np.int64],
        words: NDArray[np.int32],
        labels: NDArray[np.int64],
        optimal: NDArray[np.int64],
    ) -> NDArray[np.void]:
        columns: dict[str, NDArray[Any]] = {
            "open": np.array(b'{"id": "'),
            "id": numbers.astype("S20"),
            "text": np.array(b'", "text": "'),
            "words": self._words[words[:, :-1]],
            "last_word": self._last_words[words[:, -1]],
            "label": np.array(b'", "label": '),
            "label_name": self._labels[labels],
            "optimal": np.array(b', "optimal": '),
            "optimal_name": self._labels[optimal],
            "close": np.array(b"}\n"),
        }
        rows = np.empty(numbers.size, [(name, column.dtype, column.shape[1:]) for name, column in columns.items()])
        for name, column in columns.items():
            rows[name] = column
        return rows


def _compact(rows: NDArray[np.void]) -> tuple[bytes, NDArray[np.int64]]:
    """The rows' bytes without NULs, and int64[n], the length of each."""
    buffer = rows.view(np.uint8).reshape(rows.size, rows.dtype.itemsize)
    return rows.tobytes().translate(None, b"\0"), np.count_nonzero(buffer, axis=1)
