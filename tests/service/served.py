"""A service in a process of its own, and an HTTP client for it."""

import http.client
import json
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from prometheus_client.parser import text_string_to_metric_families

from tests.integration.pages import told_by
from tests.integration.processes import PATIENCE, Done, finish, start, until

JSON = {"Content-Type": "application/json"}


class Answer(NamedTuple):
    """An answer; `value` is its JSON."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def value(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        """The reason, and nothing else."""
        assert list(self.value) == ["error"], self.value
        reason: str = self.value["error"]
        assert "\n" not in reason
        return reason


class Served:
    """A running service. folder : of its checkpoint. told : what it printed until it was ready."""

    def __init__(self, process: "subprocess.Popen[bytes]", url: str, folder: Path, told: str) -> None:
        self.process, self.url, self.folder, self.told = process, url, folder, told
        parts = urlsplit(url)
        self.host, self.port = parts.hostname or "", parts.port or 0

    def connected(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """One request on a connection of its own."""
        with closing(self.connected()) as connection:
            return asked(connection, method, path, body, headers)

    def post(self, path: str, value: Any, headers: Mapping[str, str] | None = None) -> Answer:
        """Send a value as JSON."""
        return self.ask("POST", path, json.dumps(value).encode(), JSON | dict(headers or {}))

    def learned(self, events: int) -> None:
        """Wait until so many events were learned in all."""
        until(lambda: self.figures()["streamlin_events_total"] >= events, self.process)
        assert self.figures()["streamlin_events_total"] == events

    def figures(self) -> dict[str, float]:
        """The metrics, by name and the labels' values."""
        answer = self.ask("GET", "/metrics")
        assert answer.status == 200
        return {
            " ".join([sample.name, *(value for _, value in sorted(sample.labels.items()))]): sample.value
            for family in text_string_to_metric_families(answer.body.decode())
            for sample in family.samples
        }

    def ended(self) -> Done:
        """Send SIGTERM; the output. The exit code must be 0."""
        self.process.terminate()
        done = finish(self.process)
        assert done.code == 0, done
        return done

    @property
    def lines(self) -> list[Any]:
        """All lines of the journal."""
        return [json.loads(line) for path in journal_of(self.folder) for line in path.read_bytes().splitlines()]


def answer_on(connection: socket.socket) -> Answer:
    """The answer to a request that was sent."""
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    return Answer(answer.status, dict(answer.getheaders()), answer.read())


def asked(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """One request on a connection."""
    connection.request(method, path, body, dict(headers or {}))
    answer = connection.getresponse()
    return Answer(answer.status, dict(answer.getheaders()), answer.read())


def journal_of(folder: Path) -> list[Path]:
    """The files of a folder's journal, in order."""
    return sorted(folder.glob("requests-*.jsonl"))


@contextmanager
def served(folder: Path, *arguments: object, address: object = 0, **how: Any) -> Iterator[Served]:
    """A service at a free port; unless it has ended by itself, SIGTERM must end it with exit code 0."""
    process = start("serve", folder, address, *arguments, **how)
    told, url = told_by(process)
    running = Served(process, url, folder, told)
    try:
        yield running
        if process.poll() is None:
            running.ended()
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
