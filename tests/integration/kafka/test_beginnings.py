"""Where reading begins in partitions that are new, and in topics that hold other records than before."""

import shutil
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from connectors.kafka.errors import UnreachableError
from connectors.kafka.source import KafkaSource
from deploy.kafka.broker import Broker
from streamlin.errors import ConnectorError
from streamlin.events import Position
from tests.integration.kafka.broker import (
    PATIENCE,
    add_partitions,
    committed,
    create_topic,
    delete_topic,
    produce,
    read_all,
)
from tests.integration.kafka.clients import CLIENTS
from tests.integration.kafka.conftest import Topics
from tests.integration.kafka.polling import awaited, opened, polled, positions, values
from tests.integration.kafka.runs import QUICK, ran, url
from tests.integration.processes import finish, start, until

REFRESHED = {
    "kafka-python": {"client_metadata_max_age_ms": "200"},
    "confluent": {"client_topic.metadata.refresh.interval.ms": "200"},
}
"""New partitions are soon noticed."""


def numbered(begin: int, end: int, partition: int = 0) -> list[tuple[None, bytes, tuple[()], int]]:
    return [(None, b"%d" % i, (), partition) for i in range(begin, end)]


def begun(*sources: KafkaSource) -> None:
    """Poll sources until each has partitions; there is nothing to read."""
    deadline = time.monotonic() + PATIENCE
    while not all(source.extent() for source in sources):
        assert time.monotonic() < deadline
        for source in sources:
            assert values(source.poll(100) or []) == []


@pytest.mark.parametrize("start", ["latest", "3", "2030-01-01"])
def test_start_is_for_the_first_start_only(broker: Broker, topic: Topics, client: str, start: str) -> None:
    """A partition that was added while no run read the topic is read from its beginning, and a line says so."""
    name, options = topic(), {"client": client, "stop": "end", "start": start}
    produce(broker.address, name, numbered(0, 5))
    first = polled(opened(broker.address, name, **options))
    assert values(first) == ([b"3", b"4"] if start == "3" else [])
    add_partitions(broker.address, name, 2)
    produce(broker.address, name, [*numbered(5, 7, 1), *numbered(7, 8)])
    notices: list[str] = []
    found = polled(opened(broker.address, name, positions(first), notices.append, **options))
    assert sorted(values(found)) == [b"5", b"6", b"7"]
    assert notices == [f"new partitions are read from their beginning: {name}/1"]
    assert values(polled(opened(broker.address, name, positions(found), **options))) == []


@pytest.mark.parametrize("assignment", ["all", "group"])
def test_what_the_group_knows_of_a_topic_is_no_first_start(
    broker: Broker, topic: Topics, client: str, assignment: str
) -> None:
    """Without a checkpoint, but with the offsets that the group has committed."""
    name, group = topic(), f"{assignment}-of-{client}"
    options = {"client": client, "start": "latest", "group": group, "assignment": assignment}
    produce(broker.address, name, numbered(0, 5))
    with closing(opened(broker.address, name, **options)) as source:
        begun(source)
        source.commit({}, 1)
    assert committed(broker.address, group, name) == {0: 5}
    add_partitions(broker.address, name, 2)
    produce(broker.address, name, [*numbered(5, 7, 1), *numbered(7, 8)])
    with closing(opened(broker.address, name, **options)) as source:
        assert sorted(values(awaited(source, 3))) == [b"5", b"6", b"7"]


def test_partitions_that_a_group_gets_while_running(broker: Broker, topic: Topics, client: str) -> None:
    """With start=latest they are read from their beginning: all their messages came since."""
    name = topic()
    produce(broker.address, name, numbered(0, 5))
    options = {"client": client, "start": "latest", "group": f"growing-{client}", "assignment": "group"}
    with closing(opened(broker.address, name, **options, **REFRESHED[client])) as source:
        begun(source)
        add_partitions(broker.address, name, 3)
        produce(broker.address, name, [*numbered(5, 7, 2), *numbered(7, 8), *numbered(8, 9, 1)])
        assert sorted(values(awaited(source, 4))) == [b"5", b"6", b"7", b"8"]


def test_members_that_start_together_read_nothing_old(broker: Broker, topic: Topics, client: str) -> None:
    """With start=latest: what one of them has committed does not make the others' partitions new."""
    name = topic(4)
    produce(broker.address, name, [one for part in range(4) for one in numbered(0, 5, part)])
    options = {"client": client, "start": "latest", "group": f"together-{client}", "assignment": "group"}
    ready: set[int] = set()
    found: list[bytes] = []
    ended = threading.Event()

    def member() -> None:
        with closing(opened(broker.address, name, **options)) as source:
            while not ended.is_set():
                found.extend(values(source.poll(100) or []))
                if source.extent() and threading.get_ident() not in ready:
                    source.commit({}, 1)
                    ready.add(threading.get_ident())

    threads = [threading.Thread(target=member) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        until(lambda: len(ready) == 2)
        produce(broker.address, name, [one for part in range(4) for one in numbered(5, 6, part)])
        until(lambda: len(found) >= 4)
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    assert found == [b"5"] * 4


def test_predictions_of_a_topic_made_anew_are_sent(broker: Broker, topic: Topics, tmp_path: Path, client: str) -> None:
    """With a transactional sink, too, which leaves out what it has sent of these offsets before its start."""
    name, to = topic(), topic()
    sink = url(broker.address, to, client, transactional=name, group=name)
    arguments = ("--checkpoint", tmp_path / "state", "--predictions", sink)
    produce(broker.address, name, [(None, event(i)) for i in range(3)])
    ran(tmp_path, url(broker.address, name, client, group=name, stop="end"), *arguments)
    source = url(broker.address, name, client, group=name, on_gap="continue")
    running = start("run", source, *QUICK, *arguments, "--set", "checkpoint.every_seconds=0.1")
    try:
        produce(broker.address, name, [(None, event(3))])
        until(lambda: predicted(broker, to) == ["0", "1", "2", "3"], running)
        delete_topic(broker.address, name)
        create_topic(broker.address, name)
        produce(broker.address, name, [(None, event(i)) for i in range(4, 7)])
        until(lambda: predicted(broker, to) == [str(i) for i in range(7)], running)
    finally:
        running.send_signal(signal.SIGTERM)
    assert finish(running).code == 0


def event(number: int) -> bytes:
    return b'{"id": "%d", "text": "a text", "label": "x"}' % number


def predicted(broker: Broker, topic: str) -> list[str]:
    """Ids."""
    return [(found.key or b"").decode() for found in read_all(broker.address, topic)]


# A topic that was restored from an older copy. The first six of ten messages are in the copy.


class Restored:
    """A broker whose data are those of a copy, and what was read of its topics before.

    Of each client there are topics `short`, which ends at offset 6 now, and `grown`, to which six others were added.
    live : sources that have polled before and since, by topic; they all accept no gaps.
    """

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.known: dict[str, Mapping[str, Position]] = {}
        self.live: dict[str, KafkaSource] = {}

    def opened(self, topic: str, client: str, **options: str) -> KafkaSource:
        return opened(self.broker.address, topic, self.known[topic], client=client, stop="end", **options)


@pytest.fixture(scope="module")
def restored(kafka_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restored]:
    """Stopped, copied, started; stopped, restored, started."""
    folder = tmp_path_factory.mktemp("restored")
    broker = Broker(folder / "broker")
    names = [f"{kind}-{client}" for kind in ("short", "grown") for client in CLIENTS]
    found = Restored(broker)
    try:
        broker.start()
        for name in names:
            create_topic(broker.address, name)
            produce(broker.address, name, numbered(0, 6))
        broker.stop()
        shutil.copytree(folder / "broker" / "data", folder / "copy")
        broker.start()
        said: dict[str, list[str]] = {name: [] for name in names}
        for name in names:
            produce(broker.address, name, numbered(6, 10))
            client = name.partition("-")[2]
            found.known[name] = positions(polled(opened(broker.address, name, client=client, stop="end")))
            found.live[name] = opened(broker.address, name, notice=said[name].append, client=client)
            assert len(values(awaited(found.live[name], 10))) == 10
        broker.stop()
        for name in names:
            until_away(found.live[name], said[name])
        shutil.rmtree(folder / "broker" / "data")
        shutil.copytree(folder / "copy", folder / "broker" / "data")
        broker.start()
        for name in names:
            if name.startswith("grown"):
                produce(broker.address, name, numbered(100, 106))
        yield found
    finally:
        for source in found.live.values():
            source.close()
        broker.stop()


def until_away(source: KafkaSource, said: Sequence[str]) -> None:
    """Poll a source until it has said that no broker answers."""
    deadline = time.monotonic() + PATIENCE
    while not said:
        assert time.monotonic() < deadline
        assert source.poll(1) == []


SHORT = "/0 has lost records: it ends at offset 6, reading was to continue at 10"
GROWN = (
    "/0 has changed: offset 9 has another record than the one that was read; "
    "it ends at offset 12, reading was to continue at 10"
)


@pytest.mark.parametrize(("kind", "said"), [("short", SHORT), ("grown", GROWN)])
def test_a_topic_restored_from_a_copy_while_stopped(restored: Restored, client: str, kind: str, said: str) -> None:
    """The error names both offsets. With on_gap=continue it is read from its beginning, and the gap is counted."""
    name = f"{kind}-{client}"
    with pytest.raises(ConnectorError) as raised:
        polled(restored.opened(name, client))
    assert str(raised.value) == f"{name}{said}; on_gap=continue reads it from its beginning, offset 0"
    notices: list[str] = []
    source = opened(
        restored.broker.address,
        name,
        restored.known[name],
        notices.append,
        client=client,
        stop="end",
        on_gap="continue",
    )
    found = polled(source)
    assert notices == [f"{name}{said}; it is read from its beginning, offset 0"]
    assert values(found) == [b"%d" % i for i in [*range(6), *(range(100, 106) if kind == "grown" else ())]]
    assert sum(records.lost for records in found) == (4 if kind == "short" else 0)
    assert found[0].anew
    assert values(polled(opened(restored.broker.address, name, positions(found), client=client, stop="end"))) == []


@pytest.mark.parametrize(("kind", "said"), [("short", SHORT), ("grown", GROWN)])
def test_a_topic_restored_from_a_copy_in_a_group(restored: Restored, client: str, kind: str, said: str) -> None:
    """As without one; the group has committed nothing."""
    name = f"{kind}-{client}"
    address, known = restored.broker.address, restored.known[name]
    options = {"client": client, "group": f"of-{name}", "assignment": "group"}
    with closing(opened(address, name, known, **options)) as source, pytest.raises(ConnectorError) as raised:
        awaited(source, 1)
    assert str(raised.value) == f"{name}{said}; on_gap=continue reads it from its beginning, offset 0"
    expected = [b"%d" % i for i in [*range(6), *(range(100, 106) if kind == "grown" else ())]]
    with closing(opened(address, name, known, **options, on_gap="continue")) as source:
        found = awaited(source, len(expected))
    assert values(found) == expected
    assert sum(records.lost for records in found) == (4 if kind == "short" else 0)


@pytest.mark.parametrize(("kind", "said"), [("short", SHORT), ("grown", GROWN)])
def test_a_topic_restored_from_a_copy_while_running(restored: Restored, client: str, kind: str, said: str) -> None:
    """librdkafka ignores brokers that know less than before: then the next start says which offsets do not fit."""
    name = f"{kind}-{client}"
    with pytest.raises(ConnectorError) as raised:
        awaited(restored.live[name], 1)
    expected = [f"{name}{said}; on_gap=continue reads it from its beginning, offset 0"]
    if client == "confluent":
        address = restored.broker.address
        expected.append(
            f"the brokers at {address} know less than before, as if restored from an older copy; start the run again"
        )
    assert str(raised.value) in expected


def test_what_comes_after_an_outage_is_read_to_the_end(broker: Broker, topic: Topics, client: str) -> None:
    """With stop=end; the first messages after it are fetched twice, since the topic may be another one by then."""
    name = topic()
    produce(broker.address, name, [(None, b"%d" % i) for i in range(5)])
    source = opened(broker.address, name, client=client, stop="end")
    begun = source.poll(1000)  # with the piece that says where the partition begins
    source._contact.unanswered(UnreachableError("no broker answers"))
    assert values([*(begun or []), *polled(source)]) == [b"%d" % i for i in range(5)]
