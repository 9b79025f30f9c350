"""A worker: a copy of the model in a process of its own, which learns the events of its shards."""

from collections.abc import Mapping, Sequence
from functools import partial
from time import thread_time
from typing import Any

from streamlin.cluster.featurizing import Featurizing
from streamlin.cluster.messages import Brought, Copy, Effort, Packed, Told, pack, seen, unpack
from streamlin.config import RunConfig
from streamlin.errors import ConfigError, StreamlinError
from streamlin.model import Model
from streamlin.sharding.mixing import mix
from streamlin.sharding.shard import Piece, Scored, learn_part
from streamlin.version import __version__


class OutOfStepError(StreamlinError):
    """A worker's copy of the model is not that from which a round begins; it needs another one."""


class Worker:
    """Hosts shards. What it knows it was given by `restore`, and it learns nothing else than the round after that.

    A process that has died in between is started anew by the engine, and knows nothing: it refuses to learn.

    One thread calls `prepare`, and another one everything else.
    """

    def __init__(self) -> None:
        self._config: Mapping[str, Any] = {}
        self._model: Model | None = None
        self._rounds = 0
        self._own: list[Brought] = []
        """What its shards have brought to the round that it learned last."""
        self._featurizing: Featurizing | None = None
        self._seconds = self._mixing_seconds = 0.0
        """Of the processor, since a round was learned."""
        self._featurizing_seconds = 0.0
        """Of the features that were found ahead: those that were told already."""

    def restore(self, version: str, copy: Packed, shards: Sequence[int] = (), *parts: Packed) -> None:
        """Begin from a copy of the model, and mix the rounds since.

        shards : of each of these rounds, how many brought a part. parts : packed, round by round, as many of each.

        Raises
        ------
        ConfigError : this is another version of streamlin.
        """
        if version != __version__:
            raise ConfigError(f"cluster: a worker has streamlin {__version__}, but the run {version}; install the same")
        config, rounds, arrays, state = Copy(*unpack(copy))
        self._model, self._featurizing, self._own = None, None, []
        model = Model(RunConfig.model_validate(config))
        model.restore(arrays, state)
        of_round = len(parts) // max(1, len(shards))
        for number, count in enumerate(shards):
            _mix(model, count, _brought(parts[number * of_round : (number + 1) * of_round]))
        self._config, self._model, self._rounds = config, model, rounds + len(shards)
        self._featurizing, self._featurizing_seconds = Featurizing(model.featurize), 0.0

    def copy(self, number: int, shards: int, *parts: Packed) -> Packed:
        """A copy of the model as it is after a round, which is mixed unless it was. shards, parts : see `learn`.

        Raises
        ------
        OutOfStepError : the copy of the model has not learned the rounds up to this one, or has learned more.
        """
        begin = thread_time()
        copied = pack(Copy(self._config, number, *Model.state(self._after(number, shards, parts))))
        self._seconds += thread_time() - begin
        return copied

    def prepare(self, number: int, work: Packed) -> None:
        """Find the features of a round, while the one before it is learned.

        work : see `learn`, which does this itself if need be. A process that was given no model yet does nothing.
        """
        featurizing = self._featurizing  # the other thread may take it away
        if featurizing is not None:
            featurizing.prepare(number, work)

    def learn(self, number: int, work: Packed, shards: int, *parts: Packed) -> tuple[Packed, list[Told], Effort]:
        """Learn a round.

        work : packed, of each shard. shards : how many brought a part to the round before. parts : packed, those that
        other workers have brought. Returns what each shard brings, which the others will need; what it tells; and what
        was done.

        Raises
        ------
        OutOfStepError : the copy of the model has not learned what this round begins from.
        """
        begin = thread_time()
        model = self._after(number - 1, shards, parts)
        assert self._featurizing is not None
        brought, told, events = [], [], 0
        for shard, pieces in self._featurizing.take(number, work):
            scored: list[Scored] = []
            sizes = {view: len(names) for view, names in model.feature_names.items()}
            part = learn_part(model, len(model.labels), pieces, partial(_keep, scored))
            names = {view: own.since(sizes[view]) for view, own in model.feature_names.items()}
            brought.append(Brought(shard, part))
            known = {view: own for view, own in names.items() if own}
            told.append(Told(shard, pack(part.new), pack(scored), pack(known), model.clipped))
            events += sum(len(piece.batch) for piece in pieces)
        self._own = brought
        featurizing = self._featurizing.seconds
        seconds = self._seconds + featurizing - self._featurizing_seconds + thread_time() - begin
        effort = Effort(events, seconds, self._mixing_seconds)
        self._seconds, self._mixing_seconds, self._featurizing_seconds = 0.0, 0.0, featurizing
        return pack(brought), told, effort

    def _after(self, number: int, shards: int, parts: Sequence[Packed]) -> Model:
        """The model as it is after a round. Whatever goes wrong in mixing it, the copy is of no use any more."""
        model = self._model
        if model is None or self._rounds not in (number, number - 1):
            raise OutOfStepError(f"asked for the model after round {number}, but has learned {self._rounds}")
        if self._rounds == number - 1:
            begin, self._model = thread_time(), None
            _mix(model, shards, [*self._own, *_brought(parts)])
            self._model, self._rounds, self._own = model, number, []
            self._mixing_seconds += thread_time() - begin
        return model


def _brought(parts: Sequence[Packed]) -> list[Brought]:
    return [one for own in parts for one in seen(own)]


def _mix(model: Model, shards: int, brought: list[Brought]) -> None:
    """Mix the parts of a round, of so many shards."""
    if len(brought) != shards:
        raise OutOfStepError(f"{shards} shards brought a part, but only {len(brought)} are there")
    mix(model, len(model.labels), [one.part for one in sorted(brought, key=lambda one: one.shard)])


def _keep(kept: list[Scored], piece: Piece, scored: Scored) -> None:
    """Keep what was made of a piece, with the labels of that time."""
    kept.append(scored._replace(labels=[*scored.labels]))
