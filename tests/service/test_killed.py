"""A service that is killed repeatedly while several clients send events."""

import http.client
import json
import os
import random
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from tests.command_line import command_line
from tests.integration.processes import kill, until
from tests.integration.streams import assert_same_state, measured
from tests.service.served import JSON, Served, asked, journal_of, served

KILLS = int(os.environ.get("SOAK_KILLS", "5"))
CLIENTS = 3
SMALL = ("--late-labels", *("--set", "checkpoint.every_events=25"), *("--set", "features.bits=14"))
NO_ALARMS = ("--set", "evaluation.drift=none")
"""Alarms name the place in the source, which differs between a service and a run."""


class Client(threading.Thread):
    """Sends events one after the other, each once, until the service stops answering.

    sent : the ids in order. answered : the ids of events that the service has accepted.
    """

    def __init__(self, service: Served, name: str, chance: random.Random) -> None:
        super().__init__()
        self._service, self._name, self._chance = service, name, chance
        self.sent: list[str] = []
        self.answered: list[str] = []

    def run(self) -> None:
        with closing(self._service.connected()) as connection:
            try:
                while True:
                    self._once(connection)
            except (OSError, http.client.HTTPException):
                return

    def _once(self, connection: http.client.HTTPConnection) -> None:
        """Send one or a few events with their labels, or texts and then their labels."""
        count = self._chance.choice([1, 1, 1, 3])
        names = [f"{self._name}-{len(self.sent) + i}" for i in range(count)]
        words = [f"{self._chance.choice('abcde')} {self._chance.choice('abcde')}" for _ in names]
        later = self._chance.random() < 0.3
        parts = [f'{{"text": "{text}", "id": "{name}"' for text, name in zip(words, names, strict=True)]
        labels = [f'"label": "{text[0]}"' for text in words]
        self.sent += names
        if later:
            self._post(connection, "/predict?await_label=true", [f"{part}}}" for part in parts])
            self._post(
                connection, "/learn", [f'{{"id": "{n}", {label}}}' for n, label in zip(names, labels, strict=True)]
            )
        else:
            self._post(connection, "/learn", [f"{p}, {label}}}" for p, label in zip(parts, labels, strict=True)])
        self.answered += names

    @staticmethod
    def _post(connection: http.client.HTTPConnection, path: str, events: list[str]) -> None:
        answer = asked(connection, "POST", path, f"[{','.join(events)}]".encode(), JSON)
        assert answer.status in (200, 202), answer


def until_answered(clients: Sequence[Client], events: int) -> None:
    """Wait until a service has accepted so many events of all clients."""
    until(lambda: sum(len(client.answered) for client in clients) >= events)


def test_kills_lose_nothing_accepted_and_repeat_nothing(tmp_path: Path) -> None:
    """Every accepted event is stored once, in the order in which its client sent it, and the final state is that of a
    run over all of them, bit for bit."""
    chance, clients = random.Random(7), list[Client]()
    for round_ in range(KILLS):
        with served(tmp_path / "served", *SMALL, *NO_ALARMS) as service:
            now = [
                Client(service, f"{round_}-{number}", random.Random(f"{round_} {number}")) for number in range(CLIENTS)
            ]
            for client in now:
                client.start()
            until_answered(now, chance.randrange(11, 200))
            time.sleep(chance.uniform(0, 0.02))
            kill(service.process)
            for client in now:
                client.join()
            clients += now
    with served(tmp_path / "served", *SMALL, *NO_ALARMS) as service:
        service.post("/learn", {"text": "the last", "label": "a"})
    lines = service.lines
    learned = [line["id"] for line in lines if "label" in line and "id" in line]
    texts = [line["id"] for line in lines if "text" in line and "id" in line]
    assert sum(len(client.answered) for client in clients) > 10 * KILLS
    for ids in (learned, texts):
        assert len(ids) == len(set(ids))
        for client in clients:
            own = [name for name in ids if name in set(client.sent)]
            assert own == client.sent[: len(own)]
            assert len(own) >= len(client.answered)
    stream, report = tmp_path / "stream.jsonl", tmp_path / "report.json"
    stream.write_bytes(b"".join(path.read_bytes() for path in journal_of(service.folder)))
    command_line("run", stream, *SMALL, *NO_ALARMS, "--checkpoint", tmp_path / "run", "--report", report)
    assert_same_state(tmp_path / "served", tmp_path / "run", places=False)
    assert measured(report)["dead_letters"] == 0


def test_sigterm_under_load_learns_everything_accepted(tmp_path: Path) -> None:
    """Clients without an answer were disconnected."""
    with served(tmp_path / "served", *SMALL) as service:
        clients = [Client(service, f"{number}", random.Random(number)) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        until_answered(clients, 50)
        service.ended()
        for client in clients:
            client.join()
    found = json.loads(command_line("inspect", service.folder, "--json").out)
    lines = service.lines
    assert found["events"] == sum("text" in line for line in lines)
    learned = {line["id"] for line in lines if "label" in line}
    assert all(learned.issuperset(client.answered) for client in clients)
    assert any(client.answered for client in clients)
