"""Features of the round that comes next: one thread of a worker finds them while the other one learns."""

from collections.abc import Callable
from threading import Lock
from time import thread_time

import numpy as np

from streamlin.cluster.messages import Packed, unpack
from streamlin.events import Batch
from streamlin.model import Features
from streamlin.sharding.shard import Piece

Pieces = list[tuple[int, list[Piece]]]
"""The pieces of each shard in a round, with their features."""


class Featurizing:
    """Finds the features of rounds, which do not depend on what was learned.

    featurize : batch -> its features. seconds : of the processor, that `prepare` took in all.
    """

    def __init__(self, featurize: Callable[[Batch], Features]) -> None:
        self._featurize, self.seconds = featurize, 0.0
        self._lock, self._begun = Lock(), 0
        self._number, self._pieces = 0, Pieces()

    def prepare(self, number: int, work: Packed) -> None:
        """Find those of a round, unless it has begun. work : packed, see `streamlin.cluster.messages.Work`."""
        with self._lock:
            if number <= self._begun:
                return
            begin = thread_time()
            self._number, self._pieces = number, self._found(work)
            self.seconds += thread_time() - begin

    def take(self, number: int, work: Packed) -> Pieces:
        """The pieces of a round that begins; their features are found now if need be."""
        with self._lock:
            prepared, pieces = self._number, self._pieces
            self._begun, self._number, self._pieces = number, 0, []
            return pieces if prepared == number else self._found(work)

    def _found(self, work: Packed) -> Pieces:
        return [
            (shard, [Piece(batch, self._featurize(batch), np.arange(len(batch))) for batch in batches])
            for shard, batches in unpack(work)
        ]
