"""The workers of a run: which shards each one hosts, what they are sent in each round, and what follows a death."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.typing import NDArray

from streamlin.cluster.engine import Engine, WorkerLostError
from streamlin.cluster.messages import Copy, Effort, Packed, Told, Work, pack, settings, size_of, to_learn, unpack
from streamlin.cluster.worker import OutOfStepError
from streamlin.config import RunConfig
from streamlin.errors import ConnectorError
from streamlin.sharding.hosts import Hosted, ShardPieces
from streamlin.sharding.model import ShardedModel
from streamlin.version import __version__

_PATIENCE = 60.0
"""Seconds in which a worker must have its copy of the model, and after a death be back."""
_PAUSE = 0.1
"""Seconds between two attempts to reach it."""
_COPY_AFTER = 3
"""How many times as large as the last copy of the model the parts since may be. To mix them takes a new worker less
time than to start; a copy takes a worker an eighth of the time in which it learns a round."""


@dataclass
class Record:
    """What one worker has done in this run. restarts : how often it had to get a new copy of the model."""

    events: int = 0
    seconds: float = 0.0
    mixing_seconds: float = 0.0
    restarts: int = 0

    def add(self, effort: Effort) -> None:
        """Count a round."""
        self.events += effort.events
        self.seconds += effort.seconds
        self.mixing_seconds += effort.mixing_seconds


class Workers:
    """The `Hosts` of a model: worker w of W hosts the shards w, w + W, w + 2 W, ...

    Each keeps a copy of the model and mixes what all workers bring. The run does not: what is kept for it is one copy,
    packed, that a worker has made, and the parts of the rounds since. A worker that has died gets both, and learns its
    shards of the round again. Once the parts are much larger than the copy, a worker makes a new one.

    model : of the run. notice : shows the user one line.

    Raises
    ------
    ConfigError, ConnectorError : as of `Engine`; while learning, if a worker has another version, or is not to be had.
    """

    def __init__(self, config: RunConfig, model: ShardedModel, notice: Callable[[str], None]) -> None:
        assert config.cluster.workers is not None
        self._config, self._notice = settings(config), notice
        self._shards, self._categories = config.mixing.shards or 0, config.fields.categories
        self.records = [Record() for _ in range(config.cluster.workers)]
        self._engine = Engine(len(self.records), config.cluster.address)
        self._number = self._learned = model.rounds.number
        """The round that was begun last, and the one that was learned last."""
        self._work: list[Any] = []
        """References to what each worker has to learn in it."""
        self._prepared: tuple[int, list[Any]] = (0, [])
        """The round that was prepared last, and such references."""
        self._results: list[list[Any]] = []
        """References to what it brings, see `Worker.learn`."""
        self._restored: list[Any] = [None for _ in self.records]
        """Reference to the last copy of the model that each was sent; None: it has not been sent one."""
        self._parts: list[Any] = []
        """References to what each worker has brought to the round that was learned last."""
        self._shards_before = 0
        """How many shards these are of."""
        copy = pack(Copy(self._config, self._learned, *model.state()))
        self._copy, self._copy_size = self._engine.put(copy), size_of(copy)
        """Reference to a copy of the model, and its bytes."""
        self._since: list[Any] = []
        """References to what was brought to all rounds since."""
        self._shards_since: list[int] = []
        """Of each of these rounds, of how many shards."""
        self._since_size = 0
        """Bytes of what was brought to them."""
        self._asked: Any = None
        """Reference to a newer copy that a worker was asked for; None: none was, or it is kept already."""

    def prepare(self, number: int, pieces: ShardPieces) -> None:
        """See `Hosts`."""
        n, work = len(self.records), [list[Work]() for _ in self.records]
        for shard, own in pieces.items():
            work[shard % n].append(Work(shard, [to_learn(piece, self._categories) for _, piece in own]))
        self._prepared = (number, [self._engine.put(pack(own)) for own in work])
        for worker, given in enumerate(self._prepared[1]):
            if self._restored[worker] is not None:
                self._engine.prepare(worker, number, given)

    def begin(self, number: int, pieces: ShardPieces) -> None:
        """See `Hosts`."""
        if number == self._number:
            return
        if number != self._prepared[0]:
            self.prepare(number, pieces)
        self._number, self._work = self._prepared
        for worker, restored in enumerate(self._restored):
            if restored is None:
                self._restore(worker)
        self._asked = None
        if self._since_size > _COPY_AFTER * self._copy_size:
            self._ask_for_copy()
        self._results = [
            self._engine.learn(worker, number, work, self._shards_before, self._parts_of_others(worker))
            for worker, work in enumerate(self._work)
        ]

    def learn(self) -> list[Hosted]:
        """See `Hosts`."""
        found = [
            self._answer(worker, partial(self._results.__getitem__, worker)) for worker in range(len(self.records))
        ]
        if self._asked is not None:
            with suppress(OutOfStepError, WorkerLostError):  # if it died, another one is asked in the next round
                self._keep_copy(self._engine.get(self._asked))
        told: dict[int, Told] = {}
        for record, (brought, own, effort) in zip(self.records, found, strict=True):
            record.add(effort)
            told |= {one.shard: one for one in own}
            self._since_size += size_of(brought)
        self._parts, self._shards_before = [references[0] for references in self._results], len(told)
        self._since += self._parts
        self._shards_since.append(len(told))
        self._learned = self._number
        return [_hosted(told[shard]) for shard in sorted(told)]

    def tables(self) -> Mapping[str, NDArray[Any]]:
        """See `Hosts`."""
        if self._since:
            self._keep_copy(self._answer(self._maker, self._ask_for_copy))
        arrays: Mapping[str, NDArray[Any]] = Copy(*unpack(self._engine.get(self._copy))).arrays
        return arrays

    def report(self) -> list[dict[str, Any]]:
        """See `Hosts`."""
        n = len(self.records)
        return [
            {
                "worker": worker,
                "shards": [*range(worker, self._shards, n)],
                "events": record.events,
                "learning_seconds": record.seconds,
                "mixing_seconds": record.mixing_seconds,
                "restarts": record.restarts,
            }
            for worker, record in enumerate(self.records)
        ]

    def close(self) -> None:
        """End the workers."""
        self._engine.close()

    def _answer(self, worker: int, reference: Callable[[], Any]) -> Any:
        """What a worker answers, however often it dies in the meantime, if it comes back in time.

        reference : returns a reference to the answer; called again after each death.
        """
        deadline = None
        while True:
            try:
                self._engine.get(self._restored[worker], _PATIENCE)
                return self._engine.get(reference())
            except (OutOfStepError, WorkerLostError) as error:
                if deadline is None:
                    deadline = time.monotonic() + _PATIENCE
                    self.records[worker].restarts += 1
                    self._notice(f"worker {worker} was lost in round {self._number}, and is restored: {error}")
                elif time.monotonic() > deadline:
                    raise ConnectorError(f"cluster: worker {worker} does not come back: {error}") from None
                else:
                    time.sleep(_PAUSE)
            self._restore(worker)
            if self._number > self._learned:
                self._results[worker] = self._engine.learn(worker, self._number, self._work[worker], 0, [])

    def _parts_of_others(self, worker: int) -> list[Any]:
        """References to what others have brought to the round before; a worker keeps its own."""
        return [parts for other, parts in enumerate(self._parts) if other != worker]

    def _restore(self, worker: int) -> None:
        """Send a worker the model as it is after the round that was learned last."""
        given = (__version__, self._copy, self._shards_since, self._since)
        self._restored[worker] = self._engine.restore(worker, *given)

    @property
    def _maker(self) -> int:
        """The worker whose turn it is to copy its model."""
        return self._learned % len(self.records)

    def _ask_for_copy(self) -> Any:
        """Returns a reference to a copy of the model as it is after the round that was learned last."""
        parts = self._parts_of_others(self._maker)
        self._asked = self._engine.copy(self._maker, self._learned, self._shards_before, parts)
        return self._asked

    def _keep_copy(self, copy: Packed) -> None:
        """Keep the copy that was asked for, in the place of the last one and of what was brought since."""
        self._copy, self._copy_size, self._asked = self._asked, size_of(copy), None
        self._since, self._shards_since, self._since_size = [], [], 0


def _hosted(told: Told) -> Hosted:
    return Hosted(unpack(told.new), partial(unpack, told.scored), unpack(told.names), told.clipped)
