"""Features that a worker finds ahead."""

import numpy as np
import pytest

from streamlin.cluster.featurizing import Featurizing, Pieces
from streamlin.cluster.messages import Packed, Work, pack, to_learn
from streamlin.config import RunConfig
from streamlin.events import Batch, Event
from streamlin.model import Features, Model
from streamlin.sharding.shard import Piece
from tests.sample_streams import batch_of


class Counted:
    """The features of a model's batches, and how often they were asked for."""

    def __init__(self) -> None:
        self.model, self.times = Model(RunConfig()), 0

    def __call__(self, batch: Batch) -> Features:
        self.times += 1
        return self.model.featurize(batch)


def work(*texts: str) -> Packed:
    """Two shards, with a batch each."""
    batches = [batch_of([Event(text, "a") for text in texts[shard::2]]) for shard in range(2)]
    pieces = [Piece(batch, Features(), np.arange(len(batch))) for batch in batches]
    return pack([Work(shard, [to_learn(piece, ())]) for shard, piece in enumerate(pieces)])


def found(pieces: Pieces) -> list[tuple[int, list[str], list[int]]]:
    """Of each shard, the texts and buckets."""
    return [(shard, [*own.batch.texts], own.features["words"].buckets.tolist()) for shard, (own,) in pieces]


FIRST, SECOND = work("one two", "three", "four"), work("five", "six six")


@pytest.fixture
def counted() -> Counted:
    return Counted()


def test_what_was_prepared_is_taken(counted: Counted) -> None:
    ahead, later = Featurizing(counted), Featurizing(counted)
    ahead.prepare(1, FIRST)
    assert (counted.times, ahead.seconds > 0, later.seconds) == (2, True, 0)
    taken = found(ahead.take(1, FIRST))
    assert counted.times == 2
    assert [texts for _, texts, _ in taken] == [["one two", "four"], ["three"]]
    assert taken == found(later.take(1, FIRST))


def test_another_round_is_not_taken_for_one_that_was_prepared(counted: Counted) -> None:
    """And what was prepared is dropped, whatever it was."""
    own = Featurizing(counted)
    own.prepare(1, FIRST)
    assert [texts for _, texts, _ in found(own.take(2, SECOND))] == [["five"], ["six six"]]
    assert [texts for _, texts, _ in found(own.take(1, SECOND))] == [["five"], ["six six"]]


def test_a_round_that_has_begun_is_not_prepared(counted: Counted) -> None:
    """Calls of two threads may overtake each other; what nobody will take is not found."""
    own = Featurizing(counted)
    own.take(1, FIRST)
    own.prepare(1, FIRST)
    assert (counted.times, own.seconds) == (2, 0)
    own.prepare(2, SECOND)
    own.take(2, SECOND)
    assert counted.times == 4
