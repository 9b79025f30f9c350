"""The limits of a service, a page and a metrics' port against crowds of clients and large requests, at full size."""

import gzip
import json
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.command_line import command_line
from tests.integration.pages import address_of, asked, started
from tests.integration.processes import finish, peak_of, until
from tests.integration.streams import json_lines, write_lines
from tests.service.served import JSON, Served, answer_on, served
from tests.soak.measuring import measured, three_times

LEARNER = ("--learner", "perceptron")
FILES = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({0}, {0}))"
EVENT = {"text": "a", "label": "b"}
HEAD = b"POST /learn HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
MB = 1_000_000


def connected(url: str) -> socket.socket:
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), 60)


@contextmanager
def crowd(url: str, number: int, sending: bytes = b"") -> Iterator[list[socket.socket]]:
    """So many connections, on which this is sent."""
    with ExitStack() as opened:
        connections = list[socket.socket]()
        for _ in range(number):
            connections.append(opened.enter_context(connected(url)))
            with suppress(ConnectionResetError, BrokenPipeError):
                connections[-1].sendall(sending)
        yield connections


def answers(service: Served) -> None:
    """The service tells its health and learns."""
    assert service.ask("GET", "/healthz").status == 200
    assert service.post("/learn", EVENT).status == 202


@three_times
def test_1100_idle_connections_and_1024_files(tmp_path: Path, number: int) -> None:
    often = ("--set", "checkpoint.every_events=1")
    running = served(tmp_path / "state", *LEARNER, *often, before=FILES.format(1024))
    with running as service, measured("1,100 idle connections", service.process, 60), crowd(service.url, 1100):
        for _ in range(20):
            answers(service)
        service.learned(20)


@three_times
def test_a_run_with_1200_connections_to_its_page_and_256_to_its_metrics(tmp_path: Path, number: int) -> None:
    state, out = tmp_path / "state", tmp_path / "out.jsonl"
    outputs = ("--checkpoint", state, "--predictions", out, "--metrics", 0, "--set", "checkpoint.every_events=50")
    process, page = started("run", "synthetic://?events=inf&rate=200", *outputs, *LEARNER, before=FILES.format(1024))
    metrics = address_of(process)
    with measured("1,456 connections to a run", process, 100), crowd(page, 1200), crowd(metrics, 256):
        assert asked(metrics, "healthz")[0] == asked(metrics, "metrics")[0] == asked(page)[0] == 200
        until(lambda: out.exists() and len(json_lines(out)) > 500, process)
    process.terminate()
    assert finish(process).code == 0
    assert command_line("inspect", state, "--json").lines[0]["events"] == len(json_lines(out))


@three_times
@pytest.mark.parametrize("sending", [b"", b"GET /healthz HTTP/1.1\r\nX-Slow: "], ids=["idle", "slow"])
def test_4200_connections_that_send_no_request(tmp_path: Path, number: int, sending: bytes) -> None:
    """Idle, or with a header of a byte a second."""
    ended = threading.Event()

    def drip(connections: list[socket.socket]) -> None:
        while sending and not ended.wait(1):
            for connection in connections:
                with suppress(OSError):
                    connection.send(b"x")

    with ExitStack() as opened:
        service = opened.enter_context(served(tmp_path / "state", *LEARNER))
        opened.enter_context(measured("4,200 connections", service.process, 150))
        connections = opened.enter_context(crowd(service.url, 4200, sending))
        dripping = threading.Thread(target=drip, args=(connections,))
        dripping.start()
        for _ in range(100):
            answers(service)
        until(lambda: all(is_closed(connection) for connection in connections), service.process)
        ended.set()
        dripping.join()


def is_closed(connection: socket.socket) -> bool:
    connection.settimeout(0.001)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True


@three_times
def test_300_megabytes_of_one_header(tmp_path: Path, number: int) -> None:
    env = {"STREAMLIN_SERVE__TOKEN": "s3cret"}
    with served(tmp_path / "state", *LEARNER, env=env) as service, measured("300 MB", service.process, 30):
        with connected(service.url) as connection:
            connection.sendall(b"GET /metrics HTTP/1.1\r\nX-Large: ")
            with pytest.raises((BrokenPipeError, ConnectionResetError)):
                connection.sendall(b"x" * 300 * MB)
        assert service.ask("GET", "/healthz").status == 200


@three_times
def test_150_unfinished_bodies_of_4_megabytes(tmp_path: Path, number: int) -> None:
    limit = ("--set", "serve.max_in_flight=8")
    running = served(tmp_path / "state", *LEARNER, *limit)
    with running as service, measured("150 unfinished bodies", service.process, 120):
        with crowd(service.url, 150, HEAD % (4 * MB) + b"x" * (4 * MB - 1)) as connections:
            assert {answer_on(connection).status for connection in connections[8:]} == {503}
            assert service.ask("GET", "/healthz").status == 200
        until(lambda: service.post("/learn", EVENT).status == 202)


@three_times
def test_labels_ids_and_slices_of_megabytes(tmp_path: Path, number: int) -> None:
    """Each gets 422 from a service, and is a dead letter in a run."""
    slices = ("--late-labels", "--set", 'evaluation.slice_by=["split"]')
    long = "x" * MB
    bodies = [EVENT | {"label": long}, EVENT | {"id": long}, EVENT | {"fields": {"split": long}}]
    with served(tmp_path / "state", *LEARNER, *slices) as service, measured("300 long values", service.process, 60):
        assert {service.post("/learn", bodies[i % 3]).status for i in range(300)} == {422}
        assert {service.post("/predict?await_label=1", {"text": "a", "id": long}).status for _ in range(100)} == {422}
    events = [EVENT | {("label", "id", "split")[i % 3]: f"{i}{long}{long}"} for i in range(600)]
    stream = write_lines(tmp_path / "in.jsonl", [EVENT, *events])
    done, peak = peak_of("run", stream, *LEARNER, *slices, "--dead-letters", "null://")
    print(f"\n    600 values of 2 MB in a run: {peak} MiB at most")
    assert done.code == 0
    assert done.out.startswith("1 event ")
    assert peak < 700


@three_times
def test_bombs(tmp_path: Path, number: int) -> None:
    """A hundred gzip bodies of 1 GB each, decoded."""
    bomb = gzip.compress(bytes(1 << 30), 9)
    with served(tmp_path / "state", *LEARNER) as service, measured("100 gzip bombs", service.process, 60):
        for _ in range(100):
            assert service.ask("POST", "/learn", bomb, JSON | {"Content-Encoding": "gzip"}).status == 413
        answers(service)


@three_times
def test_half_closed_connections(tmp_path: Path, number: int) -> None:
    body = json.dumps(EVENT).encode()
    with served(tmp_path / "state", *LEARNER) as service, measured("1,000 half-closed", service.process, 60):
        with crowd(service.url, 1000, HEAD % len(body) + body) as connections:
            for connection in connections:
                connection.shutdown(socket.SHUT_WR)
            found = [answer_on(connection).status for connection in connections]
        assert set(found) <= {202, 503}
        service.learned(found.count(202))


@three_times
@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGINT, signal.SIGINT]], ids=["one", "two"])
def test_half_a_body_at_the_end(tmp_path: Path, number: int, signals: list[signal.Signals]) -> None:
    with served(tmp_path / "state", *LEARNER, "--log-format", "json") as service:
        answers(service)
        with crowd(service.url, 100, HEAD % 100 + b"x"):
            for one in signals:
                service.process.send_signal(one)
                with suppress(AssertionError):
                    until(lambda: service.process.poll() is not None or refuses(service))
            done = finish(service.process, news=False)
    assert done.code == (0 if len(signals) == 1 else 130)
    assert len([json.loads(line) for line in done.err.splitlines()]) == 1
    assert command_line("inspect", service.folder, "--json").lines[0]["events"] == (1 if len(signals) == 1 else 0)


def refuses(service: Served) -> bool:
    try:
        connected(service.url).close()
    except ConnectionRefusedError:
        return True
    return False
