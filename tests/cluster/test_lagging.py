"""The run has no tables while workers learn: they come from a worker, whichever one dies in the meantime."""

import signal
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pytest

from streamlin.checkpoint.models import new_model
from streamlin.cluster.messages import Copy, Packed, Work, pack, settings, to_learn, unpack
from streamlin.cluster.worker import Worker
from streamlin.cluster.workers import Workers
from streamlin.config import RunConfig
from streamlin.config.loading import checked
from streamlin.errors import ConnectorError
from streamlin.events import Event
from streamlin.model import Features, Model
from streamlin.running.hosting import hosting
from streamlin.sharding.model import ShardedModel
from streamlin.sharding.rounds import Round
from streamlin.sharding.shard import Piece
from streamlin.streams.reader import Portion
from streamlin.version import __version__
from tests.cluster.processes import Cluster, send
from tests.locations import DATA
from tests.sample_streams import batch_of, read_events, thinned
from tests.sharding.running import tables_of

SHARDS, SIZE = 3, 90
LEARNERS = (
    *({"kind": kind} for kind in ("naive_bayes", "averaged_perceptron", "logistic_regression")),
    {"kind": "hinge", "features": ["words", "others"]},
    {"kind": "mixture"},
)
EVENTS = thinned(read_events(DATA / "trec-6.jsonl.gz", 10 * SIZE))


def config_of(**cluster: object) -> RunConfig:
    features = {"bits": 16, "words": {}, "others": {"tokens": "whitespace"}}
    tables = {"learners": list(LEARNERS), "features": features, "mixing": {"shards": SHARDS}, "cluster": cluster}
    return checked(tables)


def round_of(events: Sequence[Event]) -> Round:
    """A round of these events; with none, as of a portion that has dead letters alone."""
    batch = batch_of(events)
    portion = Portion(batch, Features(), [], batch.records, 0, len(batch.records), "")
    return Round([portion], [np.arange(len(events), dtype=np.int32) % SHARDS], [])


@pytest.fixture(scope="module")
def rounds() -> list[Round]:
    """The fifth one has no events."""
    found = [round_of(EVENTS[begin : begin + SIZE]) for begin in range(0, len(EVENTS), SIZE)]
    return [*found[:4], round_of([]), *found[4:]]


@pytest.fixture(scope="module")
def reference(rounds: list[Round]) -> list[dict[str, object]]:
    """What a run that learns its shards itself has learned after each round."""
    model = new_model(config_of())
    assert isinstance(model, ShardedModel)
    found = []
    for one in rounds:
        for portion in one.portions:
            portion.found = model.featurize(portion.batch)
        model.learn_round(one)
        found.append(tables_of(model))
        for portion in one.portions:
            portion.found = Features()
    return found


def assert_same(model: Model, wanted: dict[str, object]) -> None:
    found = tables_of(model)
    assert found.keys() == wanted.keys()
    for name, table in wanted.items():
        assert np.asarray(found[name]).tobytes() == np.asarray(table).tobytes(), name


def test_workers_killed_while_the_run_lags_behind(cluster: Cluster, rounds, reference) -> None:
    """One of two, within a round that was begun already; both, after a copy; both, before the last one is asked for."""
    notices: list[str] = []
    config = config_of(workers=2, address=cluster.address)
    model = new_model(config)
    assert isinstance(model, ShardedModel)
    upcoming: Iterator[Round | None] = iter([*rounds[1:], None])
    with hosting(config, model, notices.append) as hosts:
        assert isinstance(hosts, Workers)
        for number, one in enumerate(rounds):
            following = next(upcoming)
            model.learn_round(one, partial(lambda of: of, following))
            if number == 2:  # a round behind it is on its way
                send(signal.SIGKILL, cluster.waited_for(2)[0])
            if number in (3, 6):
                assert_same(model, reference[number])
            if number == 6:
                send(signal.SIGKILL, *cluster.waited_for(2))
                assert_same(model, reference[number])
        send(signal.SIGKILL, *cluster.waited_for(2))
        model.complete()
        assert sum(record.restarts for record in hosts.records) == len(notices) >= 4
        assert sum(record.events for record in hosts.records) == len(EVENTS)
    assert model.rounds.number == len(rounds) - 1
    assert_same(model, reference[-1])


def test_what_workers_had_alone_is_not_saved_without_them(cluster: Cluster, rounds) -> None:
    config = config_of(workers=1, address=cluster.address)
    model = new_model(config)
    assert isinstance(model, ShardedModel)
    with hosting(config, model, lambda line: None):
        model.learn_round(rounds[0])
    with pytest.raises(ConnectorError, match="what was learned is lost with the workers"):
        model.state()


@pytest.mark.parametrize("ahead", [False, True])
def test_a_worker_restored_from_a_copy_mixes_the_rounds_since(rounds, reference, ahead: bool) -> None:
    """Two workers, of which one makes a copy after the second round, also while it is ahead by a round; a third worker
    that gets this copy is as the first one after the fourth round, and learns the same, prepared or not.
    """
    config = config_of()
    copy = pack(Copy(settings(config), 0, *Model(config).state()))
    workers = [Worker(), Worker()]
    for worker in workers:
        worker.restore(__version__, copy)
    brought: list[Packed] = [[], []]
    since: list[Packed] = []
    for number, one in enumerate(rounds[:4], 1):
        works = [pack([_work(one, shard) for shard in own]) for own in ([0, 2], [1])]
        if number == 3 and not ahead:
            copy = sent(workers[0].copy(2, SHARDS, brought[1]))
        others = [[own] if number > 1 else [] for own in brought[::-1]]
        brought = [
            sent(worker.learn(number, work, SHARDS, *parts)[0])
            for worker, work, parts in zip(workers, works, others, strict=True)
        ]
        if number == 3 and ahead:
            copy = sent(workers[0].copy(2, SHARDS))
        since += brought if number > 2 else []
    third = Worker()
    third.restore(__version__, copy, [SHARDS, SHARDS], *since)
    first = Copy(*unpack(workers[0].copy(4, SHARDS, brought[1])))
    found = Copy(*unpack(third.copy(4, SHARDS)))
    for name, array in first.arrays.items():
        if not name.startswith("names/"):  # each knows those of its own shards
            assert found.arrays[name].tobytes() == array.tobytes(), name
        if name.startswith("learners/"):
            wanted = np.asarray(reference[3][name])
            assert array.tobytes() == wanted.tobytes(), name
    work = pack([_work(rounds[5], 0)])
    workers[0].prepare(5, work)
    third.prepare(6, pack([_work(rounds[6], 0)]))
    assert bytes_of(third.learn(5, work, SHARDS)[0]) == bytes_of(workers[0].learn(5, work, SHARDS)[0])


def bytes_of(message: Packed) -> list[bytes]:
    return [memoryview(piece).tobytes() for piece in message]


def sent(message: Packed) -> Packed:
    """The message as it arrives: a copy that may only be read."""
    return [np.frombuffer(piece, np.uint8) for piece in bytes_of(message)]


def _work(one: Round, shard: int) -> Work:
    return Work(shard, [to_learn(Piece(piece.batch, {}, piece.events), ()) for _, piece in one.pieces(shard)])
