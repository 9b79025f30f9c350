"""Processes that share topics as a consumer group: each event is learned by one of them.

At least by one where a process is killed or thrown out: what it had not committed, another one learns again.
"""

import json
import random
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient

from deploy.kafka.broker import Broker
from tests.command_line import refused
from tests.integration.kafka.broker import PATIENCE, committed, create_topic, delete_records, produce
from tests.integration.kafka.clients import CLIENTS, with_both
from tests.integration.kafka.conftest import Topics
from tests.integration.processes import kill, start, until

QUICK = ("--learner", "naive_bayes", "--set", "features.words.ngrams=[1, 1]")
SESSION_MS = 20_000
"""After which the group removes a member that sends no heartbeats; a busy machine may keep one from it for seconds."""
SHORT = {"session_timeout_ms": 3000}
"""Where a test waits for that."""
HEARTBEAT = {"kafka-python": "client.heartbeat_interval_ms=250", "confluent": "client.heartbeat.interval.ms=250"}
TAKEN = re.compile(r"^streamlin: partitions from the group: (.+)$", re.MULTILINE)
GIVEN = re.compile(r"^streamlin: partitions given to another member of the group: (.+)$", re.MULTILINE)
LOST = re.compile(r"^streamlin: partitions lost, the group has removed this member: (.+)$", re.MULTILINE)


class Group:
    """A topic with numbered events, and the processes that share it."""

    def __init__(self, address: str, topic: str, folder: Path, partitions: int) -> None:
        self.address, self.topic, self.partitions = address, topic, partitions
        self.folder = folder / topic
        self.folder.mkdir()
        self.produced = 0
        self._committed: dict[int, int] = {}

    def produce(self, n: int, partition: int | None = None) -> None:
        """Append n events, to all partitions in turn or all to one."""
        numbers = range(self.produced, self.produced + n)
        produce(
            self.address,
            self.topic,
            [(None, event(i), (), i % self.partitions if partition is None else partition) for i in numbers],
        )
        self.produced += n

    def member(self, name: str, client: str, *arguments: object, **options: object) -> "Member":
        """Start a process; it resumes an earlier one of the same name."""
        return Member(self, name, client, arguments, options)

    def source(self, client: str, **options: object) -> str:
        """The topic's URL, for a member of the group."""
        own = {"group": self.topic, "assignment": "group", "client": client, "session_timeout_ms": SESSION_MS} | options
        query = "&".join(f"{name}={value}" for name, value in own.items())
        return f"kafka://{self.address}/{self.topic}?{query}&{HEARTBEAT[client]}"

    def predicted(self) -> Counter[int]:
        """How often each event was predicted, by all members."""
        found: Counter[int] = Counter()
        for path in self.folder.glob("*.jsonl"):
            found.update(ids(path))
        return found

    def until_all_are_predicted(self) -> None:
        """Wait."""
        until(lambda: len(self.predicted()) == self.produced)

    def committed(self) -> dict[int, int]:
        """The offsets; none may be smaller than it once was."""
        now = committed(self.address, self.topic, self.topic)
        for part, before in self._committed.items():
            assert now[part] >= before, (now, self._committed)
        self._committed = now
        return now

    def commit(self, offset: int) -> None:
        """In partition 0, from outside; the group has no members."""
        position = ConsumerGroupTopicPartitions(self.topic, [TopicPartition(self.topic, 0, offset)])
        admin = AdminClient({"bootstrap.servers": self.address})
        admin.alter_consumer_group_offsets([position], request_timeout=PATIENCE)[self.topic].result(PATIENCE)
        self._committed = {0: offset}

    def members(self) -> int:
        """The number of members."""
        admin = AdminClient({"bootstrap.servers": self.address})
        described = admin.describe_consumer_groups([self.topic], request_timeout=PATIENCE)[self.topic].result(PATIENCE)
        return len(described.members)

    def assert_each_was_learned_once(self) -> None:
        """By reports, predictions and committed offsets; all members have ended."""
        assert self.predicted() == Counter(range(self.produced))
        reports = [json.loads(path.read_text()) for path in self.folder.glob("*.json")]
        assert sum(report["events"] for report in reports) == self.produced
        assert sum(self.committed().values()) == self.produced


class Member:
    """A process of the group."""

    def __init__(
        self, group: Group, name: str, client: str, arguments: tuple[object, ...], options: dict[str, Any]
    ) -> None:
        self.predictions, self.report = group.folder / f"{name}.jsonl", group.folder / f"{name}.json"
        self._errors = group.folder / f"{name}.err"
        with open(self._errors, "ab") as errors:
            self._said_before = errors.tell()
            self.process = start(
                *("run", group.source(client, **options), *QUICK, "--predictions", self.predictions),
                *("--report", self.report, "--checkpoint", group.folder / f"{name}.state", *arguments),
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )

    def said(self) -> str:
        """Standard error up to now."""
        return self._errors.read_bytes()[self._said_before :].decode()

    def parts(self, which: re.Pattern[str]) -> list[int]:
        """The partitions that it reported, each time."""
        return [int(name.rpartition("/")[2]) for names in which.findall(self.said()) for name in names.split(", ")]

    def predicted(self) -> list[int]:
        """Events."""
        return ids(self.predictions)

    def until(self, condition: Callable[[], Any]) -> None:
        """Wait until a condition holds, before the process ends."""
        until(condition, self.process)

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def stop(self, code: int = 0) -> str:
        """Stop it, if it has not ended; its standard error."""
        self.process.send_signal(signal.SIGTERM)
        return self.ended(code)

    def ended(self, code: int) -> str:
        """Wait until it has ended; its standard error."""
        assert self.process.wait(PATIENCE) == code, self.said()
        assert "Traceback" not in self.said()
        return self.said()


Check = Callable[[Group, str], None]


def event(number: int) -> bytes:
    return json.dumps({"id": str(number), "text": f"word{number % 50}", "label": "xy"[number % 2]}).encode()


def ids(path: Path) -> list[int]:
    """Of the prediction lines that are whole."""
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    return [int(json.loads(line)["id"]) for line in lines if line.endswith(b"\n")]


@pytest.fixture
def new_group(broker: Broker, topic: Topics, tmp_path: Path) -> Callable[[int], Group]:
    """Makes groups, each with a topic of so many partitions."""
    return lambda partitions: Group(broker.address, topic(partitions), tmp_path, partitions)


@pytest.fixture
def in_groups(new_group: Callable[[int], Group]) -> Callable[[Check, int], None]:
    """Calls a function with each client and a group of its own, at once."""
    return lambda check, partitions: with_both(lambda client: check(new_group(partitions), client))


def test_a_second_process_comes_and_goes(in_groups: Callable[[Check, int], None]) -> None:
    """Half of the partitions move to it and back while the rest are read; no event is learned by both."""

    def check(group: Group, client: str) -> None:
        first = group.member("first", client)
        group.produce(100)
        group.until_all_are_predicted()
        second = group.member("second", client)
        second.until(lambda: group.produce(8) or second.predicted())
        assert sorted(second.parts(TAKEN)) == sorted(first.parts(GIVEN))
        assert len(first.parts(GIVEN)) == 2
        group.committed()
        second.stop()
        group.produce(100)
        group.until_all_are_predicted()
        assert sorted(first.parts(TAKEN)) == sorted([0, 1, 2, 3, *first.parts(GIVEN)])
        assert "lost" not in first.stop()
        group.assert_each_was_learned_once()

    in_groups(check, 4)


def test_both_clients_in_one_group(new_group: Callable[[int], Group]) -> None:
    """Three processes come and go, once all at the same time; each event is still learned once."""
    group, chance = new_group(4), random.Random(1)
    running: dict[str, Member] = {}
    clients = {"a": "kafka-python", "b": "confluent", "c": "kafka-python"}
    for change in ("a", "b", "c", "-b", "-ac", "b", "a", "-ab", "c"):
        if change[0] != "-":
            running[change] = group.member(change, clients[change])
            running[change].until(lambda name=change: group.produce(chance.randrange(20)) or running[name].said())
            continue
        for name in change[1:]:
            running[name].signal(signal.SIGTERM)
            group.produce(chance.randrange(20))
        for name in change[1:]:
            assert "lost" not in running.pop(name).ended(0)
        group.committed()
    group.until_all_are_predicted()
    for member in running.values():
        member.stop()
    group.assert_each_was_learned_once()


def test_a_killed_process_is_replaced(in_groups: Callable[[Check, int], None]) -> None:
    """Once the group has removed it, another one continues from its last commit: nothing is missing."""

    def check(group: Group, client: str) -> None:
        first = group.member("first", client, **SHORT)
        first.until(lambda: first.parts(TAKEN))
        second = group.member("second", client, **SHORT)
        second.until(lambda: group.produce(2) or second.predicted())
        kill(second.process)
        group.produce(100)
        group.until_all_are_predicted()
        first.stop()
        assert set(first.predicted()) | set(second.predicted()) == set(range(group.produced))
        assert sum(group.committed().values()) == group.produced

    in_groups(check, 2)


def test_a_frozen_process_is_replaced_and_comes_back(in_groups: Callable[[Check, int], None]) -> None:
    """Once it runs again it commits nothing of what the group took from it meanwhile, and gets partitions anew.

    Of a partition in which it has read nothing since, it never commits how far it was before.
    """

    def check(group: Group, client: str) -> None:
        first = group.member("first", client, "--set", "checkpoint.every_events=10", **SHORT)
        first.until(lambda: first.parts(TAKEN))
        second = group.member("second", client, **SHORT)
        second.until(lambda: group.produce(8) or second.predicted())
        second.signal(signal.SIGSTOP)
        first.until(lambda: len(first.parts(TAKEN)) == 6)
        group.produce(100)
        group.until_all_are_predicted()
        before = group.committed()
        first.until(lambda: group.produce(4, 0) or group.committed() != before)  # the first one is further, for all
        second.signal(signal.SIGCONT)
        second.until(lambda: len(second.parts(LOST)) == 2 and len(second.parts(TAKEN)) >= 4)
        known = len(second.predicted())
        group.produce(20, second.parts(TAKEN)[-1])
        second.until(lambda: len(second.predicted()) >= known + 20)
        second.stop()
        group.committed()
        group.until_all_are_predicted()
        first.stop()
        assert sum(group.committed().values()) == group.produced

    in_groups(check, 4)


def test_a_static_member_restarts_unnoticed(in_groups: Callable[[Check, int], None]) -> None:
    """It has its partitions again, the others keep theirs. A second process of its name takes its place: exit 3."""

    def check(group: Group, client: str) -> None:
        first = group.member("first", client, instance="one")
        first.until(lambda: first.parts(TAKEN))
        second = group.member("second", client, instance="two")
        second.until(lambda: group.produce(2) or second.predicted())
        parts = second.parts(TAKEN)
        second.stop()
        group.produce(20)
        second = group.member("second", client, instance="two")
        group.until_all_are_predicted()
        assert second.parts(TAKEN) == parts
        assert (first.parts(TAKEN), first.parts(GIVEN)) == ([0, 1], parts)
        assert group.predicted() == Counter(range(group.produced))
        usurper = group.member("usurper", client, instance="two")
        last = second.ended(3).splitlines()[-1]
        assert re.search(r"instance=two|group\.instance\.id", last), last
        usurper.stop()
        first.stop()

    in_groups(check, 2)


def test_starts_at_the_later_of_commit_and_checkpoint(in_groups: Callable[[Check, int], None]) -> None:
    """Ten events are learned; then the group is further, then behind."""

    def check(group: Group, client: str) -> None:
        def run(expected: range) -> None:
            member = group.member("only", client, "--limit", len(expected))
            member.ended(0)
            assert member.predicted()[-len(expected) :] == list(expected)
            assert group.committed() == {0: expected.stop}

        group.produce(30)
        run(range(10))
        group.commit(15)
        run(range(15, 20))
        group.commit(5)
        run(range(20, 25))

    in_groups(check, 1)


def test_slow_processing_keeps_a_member_in_the_group(in_groups: Callable[[Check, int], None]) -> None:
    """With more events at hand than are learned in `max_poll_interval_ms`; half of them still move to a second one."""

    def check(group: Group, client: str) -> None:
        patience = {"max_poll_interval_ms": 5000, "session_timeout_ms": 5000}
        group.produce(500)
        slow = group.member("slow", client, rate=50, **patience)
        slow.until(slow.predicted)
        second = group.member("second", client, **patience)
        group.until_all_are_predicted()
        assert second.predicted()
        for member in (slow, second):
            assert "lost" not in member.stop()
        group.assert_each_was_learned_once()

    in_groups(check, 2)


def test_a_group_continues_after_deleted_records(in_groups: Callable[[Check, int], None]) -> None:
    """With on_gap=continue, as outside of a group."""

    def check(group: Group, client: str) -> None:
        small = {"max_partition_fetch_bytes": 1}  # one batch is fetched at a time
        member = group.member("only", client, on_gap="continue", **small)
        group.produce(1)
        group.until_all_are_predicted()
        member.signal(signal.SIGSTOP)
        for _ in range(10):
            group.produce(1)
        delete_records(group.address, group.topic, {0: 8})
        member.signal(signal.SIGCONT)
        member.until(lambda: 10 in member.predicted())
        member.stop()
        lost = json.loads(member.report.read_text())["lost"]
        assert lost in (6, 7)  # the broker may have answered a question of before
        assert member.predicted() == [*range(8 - lost), 8, 9, 10]
        assert group.committed() == {0: 11}

    in_groups(check, 1)


def test_members_end_when_the_broker_is_gone(kafka_library: Path, tmp_path: Path) -> None:
    """Exit 3, also of a process that has no partition and so asks the broker for nothing."""
    broker = Broker(tmp_path / "broker", settings={"group.min.session.timeout.ms": "1000"})
    try:
        broker.start()
        groups = {client: Group(broker.address, client, tmp_path, 1) for client in CLIENTS}
        for client in groups:
            create_topic(broker.address, client)
        patience = ("--set", "kafka.give_up_after=1")
        members = [
            group.member(name, client, *patience, **SHORT)
            for client, group in groups.items()
            for name in ("first", "second")
        ]
        for group in groups.values():
            group.produce(10)
            group.until_all_are_predicted()
            until(lambda group=group: group.members() == 2)
        broker.kill()
        for member in members:
            assert "(kafka.give_up_after)" in member.ended(3).splitlines()[-1]
    finally:
        broker.stop()


def test_a_group_needs_a_name(broker: Broker) -> None:
    """Exit 2."""
    said = refused("run", f"kafka://{broker.address}/topic?assignment=group")
    assert said == "kafka source: assignment=group needs group=NAME"
