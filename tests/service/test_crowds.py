"""Many clients, slow clients, and those that send too much, against a service in a process with few files."""

import json
import select
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from tests.command_line import command_line
from tests.integration.processes import PATIENCE, finish, memory_of, until
from tests.service.served import JSON, Served, answer_on, served

TOKEN = "s3cret-of-the-test"
KNOWN = {"Authorization": f"Bearer {TOKEN}"}
FEW_FILES = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({0}, {0}))"
LEARNER = ("--learner", "perceptron")
HEAD = b"POST /learn HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
EVENT = b'{"text": "a", "label": "b"}'


def connected(service: Served) -> socket.socket:
    return socket.create_connection((service.host, service.port), timeout=PATIENCE)


@contextmanager
def crowd(service: Served, number: int, sending: bytes = b"") -> Iterator[list[socket.socket]]:
    """So many connections, on which this is sent."""
    with ExitStack() as opened:
        connections = [opened.enter_context(connected(service)) for _ in range(number)]
        for connection in connections:
            connection.sendall(sending)
        yield connections


@pytest.mark.parametrize("sending", [b"", b"GET /healthz HTTP/1.1\r\nX-Slow: "])
def test_idle_connections_take_no_files_from_a_service(tmp_path: Path, sending: bytes) -> None:
    """More than its files allow, without the token: it answers, and writes its checkpoints."""
    few = FEW_FILES.format(300)
    limits = ("--set", "serve.reserved_files=100", "--set", "checkpoint.every_events=1", *LEARNER)
    env = {"STREAMLIN_SERVE__TOKEN": TOKEN}
    with served(tmp_path / "state", *limits, env=env, before=few) as service:
        with crowd(service, 500, sending):
            assert service.ask("GET", "/healthz").status == 200
            for number in range(5):
                assert service.post("/learn", {"text": "a", "label": str(number)}, KNOWN).status == 202
            until(lambda: b"streamlin_events_total 5.0" in service.ask("GET", "/metrics", None, KNOWN).body)
        service.process.terminate()
        done = finish(service.process)
    assert done.code == 0
    bound = "which are all that 300 open files (ulimit -n) allow beside serve.reserved_files = 100"
    assert f"{bound}; for a new connection the one that has waited longest is closed\n" in done.err
    assert json.loads(command_line("inspect", service.folder, "--json").out)["events"] == 5


def test_requests_in_progress_leave_files_for_the_health(tmp_path: Path) -> None:
    """Where every connection has a request whose body is late, only the health is answered."""
    limits = ("--set", "serve.reserved_files=100", *LEARNER)
    with served(tmp_path / "state", *limits, before=FEW_FILES.format(200)) as service:
        with crowd(service, 130, HEAD % len(EVENT)) as connections:
            until(lambda: service.post("/learn", {"text": "a", "label": "b"}).status == 503)
            assert "serve.reserved_files = 100; try again" in service.post("/predict", {"text": "a"}).error
            assert service.ask("GET", "/healthz").status == 200
            refused = select.select(connections, [], [], 0)[0]  # they have their answer
            accepted = next(connection for connection in connections if connection not in refused)
            accepted.sendall(EVENT)
            assert answer_on(accepted).status == 202
        until(lambda: service.post("/learn", {"text": "a", "label": "b"}).status == 202)


def test_headers_are_bounded_before_the_token(tmp_path: Path) -> None:
    """Also those that never end."""
    env = {"STREAMLIN_SERVE__TOKEN": TOKEN}
    with served(tmp_path / "state", *LEARNER, env=env) as service:
        answer = service.ask("GET", "/metrics", None, {"X-Large": "x" * 70_000})
        assert answer.status == 431
        assert answer.error == "the headers are over serve.max_header_bytes = 65,536"
        before = memory_of(service.process)
        with connected(service) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nX-Large: ")
            with pytest.raises((BrokenPipeError, ConnectionResetError)):
                connection.sendall(b"x" * 100_000_000)
        assert memory_of(service.process) - before < 20
        assert service.ask("GET", "/metrics", None, {"X": "x" * 50_000} | KNOWN).status == 200


def test_bodies_are_counted_from_their_headers_on(tmp_path: Path) -> None:
    """Those beyond the limit are refused while the others arrive; none of them takes memory."""
    limits = ("--set", "serve.max_in_flight=8", *LEARNER)
    with served(tmp_path / "state", *limits) as service:
        before = memory_of(service.process)
        with crowd(service, 100, HEAD % 4_000_000 + b"x" * 3_000_000) as connections:
            refused = [answer_on(connection) for connection in connections[8:]]
            assert {answer.status for answer in refused} == {503}
            assert {answer.error for answer in refused} == {
                "the service is busy with serve.max_in_flight = 8 requests; try again"
            }
            assert memory_of(service.process) - before < 100
            connections[0].sendall(b"x" * 1_000_000)
            assert answer_on(connections[0]).status == 400
        until(lambda: service.post("/learn", {"text": "a", "label": "b"}).status == 202)


def test_bytes_of_bodies_are_counted_together(tmp_path: Path) -> None:
    limits = ("--set", "serve.max_in_flight_bytes=5_000_000", *LEARNER)
    with served(tmp_path / "state", *limits) as service:
        with crowd(service, 1, HEAD % 4_000_000 + b" " * 3_900_000) as (first,):
            answers = [service.ask("POST", "/learn", b" " * 2_000_000 + EVENT, JSON)]
            with suppress(BrokenPipeError, ConnectionResetError):  # it may be the one that is refused
                first.sendall(b" " * (100_000 - len(EVENT)) + EVENT)
            answers.append(answer_on(first))
        accepted, refused = sorted(answers, key=lambda answer: answer.status)
        assert (accepted.status, refused.status) == (202, 503)
        assert refused.error == "bodies of serve.max_in_flight_bytes = 5,000,000 are in flight; try again"
        assert service.ask("POST", "/learn", b" " * 3_000_000 + EVENT, JSON).status == 202


def test_a_half_closed_connection_is_answered(tmp_path: Path) -> None:
    with served(tmp_path / "state", *LEARNER) as service, connected(service) as connection:
        connection.sendall(HEAD % len(EVENT) + EVENT)
        connection.shutdown(socket.SHUT_WR)
        assert answer_on(connection).value == {"accepted": 1}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_half_a_body_does_not_delay_the_end(tmp_path: Path, number: signal.Signals) -> None:
    """It gets 503; the log has one line, which is JSON."""
    logged = served(tmp_path / "state", *LEARNER, "--log-format", "json")
    with logged as service, crowd(service, 1, HEAD % len(EVENT) + EVENT[:5]) as (half,):
        assert service.post("/learn", {"text": "a", "label": "b"}).status == 202
        service.process.send_signal(number)
        answer = answer_on(half)
        done = finish(service.process, news=False)
    assert answer.status == 503
    assert answer.error == "the server stops, and the body of the request has not arrived"
    assert done.code == 0
    (line,) = map(json.loads, done.err.splitlines())
    assert line["message"].startswith("done: 1 event ")


@pytest.mark.parametrize("first", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_a_service_at_once(tmp_path: Path, first: signal.Signals, second: signal.Signals) -> None:
    """What it has accepted is learned at the next start."""
    logged = served(tmp_path / "state", *LEARNER, "--log-format", "json")
    with logged as service, crowd(service, 1, HEAD % len(EVENT) + EVENT[:5]):
        assert service.post("/learn", {"text": "a", "label": "b"}).status == 202
        service.process.send_signal(first)
        until(lambda: refuses_connections(service))
        service.process.send_signal(second)
        done = finish(service.process, news=False)
    assert done.code == 130
    (line,) = map(json.loads, done.err.splitlines())
    assert (line["level"], line["message"]) == ("error", "interrupted")
    with served(tmp_path / "state") as service:
        assert service.figures()["streamlin_events_total"] == 1


def refuses_connections(service: Served) -> bool:
    try:
        connected(service).close()
    except ConnectionRefusedError:
        return True
    return False
