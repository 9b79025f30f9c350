"""What the run and its workers tell each other, as bytes.

Pickled here and not by Ray, whose arrays could not be written to: kernels are compiled for those that can. Large arrays
stay outside of the pickle, so that each is copied once to where Ray keeps it and once from there.
"""

import pickle
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.config import RunConfig
from streamlin.events import Batch, single_records, taken
from streamlin.kernel.byte_buffers import PADDING, Utf8Texts
from streamlin.kernel.ranges import bounds_of, copy_ranges
from streamlin.sharding.parts import Part
from streamlin.sharding.shard import Piece

Packed = list[Any]
"""A message as bytes: a pickle, and its large arrays as uint8[n], which may be read only."""
_LARGE = 1 << 14
"""Bytes of an array that is kept outside of the pickle."""
_NOWHERE = single_records([])


class Copy(NamedTuple):
    """A copy of the model.

    config : see `settings`. rounds : those that it has learned. arrays, state : see `streamlin.model.Model.state`.
    """

    config: Mapping[str, Any]
    rounds: int
    arrays: Mapping[str, NDArray[Any]]
    state: Mapping[str, Any]


class Work(NamedTuple):
    """The events of one shard in a round."""

    shard: int
    batches: Sequence[Batch]


class Brought(NamedTuple):
    """The part of one shard in a round, which all workers mix."""

    shard: int
    part: Part


class Told(NamedTuple):
    """What the run needs of one shard in a round; see `streamlin.sharding.hosts.Hosted`.

    new, scored, names : packed; `scored` is a list of `Scored`.
    """

    shard: int
    new: Packed
    scored: Packed
    names: Packed
    clipped: set[str]


class Effort(NamedTuple):
    """What a worker has done in a round. Seconds are those of its processor."""

    events: int
    seconds: float
    mixing_seconds: float


def pack(message: Any) -> Packed:
    """A message as bytes; large arrays are not copied before it is sent."""
    apart: list[pickle.PickleBuffer] = []

    def is_small(buffer: pickle.PickleBuffer) -> bool:
        if buffer.raw().nbytes < _LARGE:
            return True
        apart.append(buffer)
        return False

    rest = pickle.dumps(message, pickle.HIGHEST_PROTOCOL, buffer_callback=is_small)
    return [rest, *(np.frombuffer(buffer.raw(), np.uint8) for buffer in apart)]


def size_of(message: Packed) -> int:
    """Its bytes."""
    return sum(memoryview(piece).nbytes for piece in message)


def unpack(message: Packed) -> Any:
    """The message that `pack` was given; it must come from a process that is trusted."""
    rest, *apart = message
    return pickle.loads(rest, buffers=[np.array(array) for array in apart])


def seen(message: Packed) -> Any:
    """What `unpack` returns, but large arrays stay where they are; nothing may write to them."""
    rest, *apart = message
    return pickle.loads(rest, buffers=[np.asarray(_Seen(array)) for array in apart])


class _Seen:
    """An array that may only be read, as one that may be written to.

    To the compiler the two are different types. A worker mixes its own parts, which are arrays like any other, with
    those of others, so kernels would be compiled for both, and for each mixture of both among their arguments, which
    takes seconds. What is seen is the parts of a round; the kernels that mix write to a model's tables alone.
    """

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array  # so that the memory stays

    @property
    def __array_interface__(self) -> dict[str, Any]:
        own = self._array.__array_interface__
        return own | {"data": (own["data"][0], False)}


def settings(config: RunConfig) -> dict[str, Any]:
    """What of a configuration decides how its model learns, for `RunConfig.model_validate`; a worker has one thread."""
    return config.model_dump(include={"fields", "features", "learners", "evaluation"}) | {"pipeline": {"threads": 1}}


def to_learn(piece: Piece, categories: Sequence[str]) -> Batch:
    """What of the events of a piece is learned: texts, labels, weights and categories."""
    batch, events = piece.batch, piece.events
    chosen, pieces, values = events.tolist(), None, batch.values
    if batch.pieces is None:
        texts = _chosen(batch.texts, events)
    else:
        pieces, places = taken(batch.pieces, events)
        texts = _chosen(batch.texts, places)
        values = None if values is None else values[places]
    return Batch(
        ids=[None] * len(chosen),
        texts=texts,
        labels=piece.labels,
        weights=batch.weights[events],
        times=np.zeros(0),
        extra={name: [batch.extra[name][event] for event in chosen] for name in categories},
        records=_NOWHERE,
        kept=np.zeros(0, np.int64),
        pieces=pieces,
        values=values,
    )


def _chosen(texts: Sequence[str], places: NDArray[np.int64]) -> Sequence[str]:
    """Some of the texts, as what they are given as."""
    if not isinstance(texts, Utf8Texts):
        return [texts[place] for place in places.tolist()]
    bounds = bounds_of(texts.bounds, places)
    octets = np.zeros(bounds[-1] + PADDING, np.uint8)
    copy_ranges(texts.octets, texts.bounds, places, bounds, octets)
    return Utf8Texts(octets, bounds, texts.plain)
