"""A worker: a copy of the model in a process of its own, which learns the events of its shards."""

from collections.abc import Sequence
from functools import partial
from time import process_time

import numpy as np

from streamlin.cluster.messages import Brought, Copy, Effort, Packed, Told, pack, unpack
from streamlin.config import RunConfig
from streamlin.errors import ConfigError, StreamlinError
from streamlin.events import Batch
from streamlin.model import Model
from streamlin.sharding.mixing import mix
from streamlin.sharding.shard import Piece, Scored, learn_part
from streamlin.version import __version__


class OutOfStepError(StreamlinError):
    """A worker's copy of the model is not that from which a round begins; it needs another one."""


class Worker:
    """Hosts shards. What it knows it was given by `restore`, and it learns nothing else than the round after that.

    A process that has died in between is started anew by the engine, and knows nothing: it refuses to learn.
    """

    def __init__(self) -> None:
        self._model: Model | None = None
        self._rounds = 0
        self._own: list[Brought] = []
        """What its shards have brought to the round that it learned last."""

    def restore(self, version: str, copy: Packed) -> None:
        """Begin from a copy of the model.

        Raises
        ------
        ConfigError : this is another version of streamlin.
        """
        if version != __version__:
            raise ConfigError(f"cluster: a worker has streamlin {__version__}, but the run {version}; install the same")
        config, rounds, arrays, state = Copy(*unpack(copy))
        self._model, self._own = None, []
        model = Model(RunConfig.model_validate(config))
        model.restore(arrays, state)
        self._model, self._rounds = model, rounds

    def learn(self, number: int, work: Packed, shards: int, *parts: Packed) -> tuple[Packed, list[Told], Effort]:
        """Learn a round.

        work : packed, of each shard. shards : how many brought a part to the round before. parts : packed, those that
        other workers have brought. Returns what each shard brings, which the others will need; what it tells; and what
        was done.

        Raises
        ------
        OutOfStepError : the copy of the model has not learned what this round begins from.
        """
        begin = process_time()
        if self._model is None or self._rounds not in (number - 1, number - 2):
            raise OutOfStepError(f"asked for round {number}, after {self._rounds}")
        if self._rounds == number - 2:
            self._mix(self._model, shards, parts)
        mixed = process_time()
        brought, told, events = [], [], 0
        for shard, batches in unpack(work):
            scored: list[Scored] = []
            sizes = {view: len(names) for view, names in self._model.feature_names.items()}
            part = learn_part(
                self._model,
                len(self._model.labels),
                [self._piece(self._model, batch) for batch in batches],
                partial(_keep, scored),
            )
            names = {view: own.since(sizes[view]) for view, own in self._model.feature_names.items()}
            brought.append(Brought(shard, part))
            known = {view: own for view, own in names.items() if own}
            told.append(Told(shard, pack(scored), pack(known), self._model.clipped))
            events += sum(map(len, batches))
        self._own = brought
        return pack(brought), told, Effort(events, process_time() - begin, mixed - begin)

    def _mix(self, model: Model, shards: int, parts: Sequence[Packed]) -> None:
        """Mix the parts of a round. Whatever goes wrong in it, the copy is of no use any more."""
        self._model = None
        brought = [*self._own, *(one for other in parts for one in unpack(other))]
        if len(brought) != shards:
            raise OutOfStepError("the round before was not mixed")
        brought.sort(key=lambda one: one.shard)
        mix(model, len(model.labels), [one.part for one in brought])
        self._model, self._rounds, self._own = model, self._rounds + 1, []

    @staticmethod
    def _piece(model: Model, batch: Batch) -> Piece:
        return Piece(batch, model.featurize(batch), np.arange(len(batch)))


def _keep(kept: list[Scored], piece: Piece, scored: Scored) -> None:
    """Keep what was made of a piece, with the labels of that time."""
    kept.append(scored._replace(labels=[*scored.labels]))
