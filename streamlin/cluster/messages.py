"""What the run and its workers tell each other, as bytes.

Pickled here and not by Ray, whose arrays could not be written to: kernels are compiled for those that can.
"""

import pickle
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.config import RunConfig
from streamlin.events import Batch, single_records, taken
from streamlin.kernel.byte_buffers import PADDING, Utf8Texts
from streamlin.sharding.parts import Part
from streamlin.sharding.shard import Piece

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
    """The part of one shard in a round."""

    shard: int
    part: Part


class Told(NamedTuple):
    """What the run alone needs of one shard in a round; see `streamlin.sharding.hosts.Hosted`.

    scored : packed, a list of `Scored`.
    """

    shard: int
    scored: bytes
    names: Mapping[str, Mapping[str, NDArray[Any]]]
    clipped: set[str]


class Effort(NamedTuple):
    """What a worker has done in a round. Seconds are those of its processor."""

    events: int
    seconds: float
    mixing_seconds: float


def pack(message: Any) -> bytes:
    """A message as bytes."""
    return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


def unpack(message: bytes) -> Any:
    """The message that `pack` was given; it must come from a process that is trusted."""
    return pickle.loads(message)


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
    bounds, octets = taken(texts.bounds, places)
    return Utf8Texts(np.append(texts.octets[octets], np.zeros(PADDING, np.uint8)), bounds, texts.plain)
