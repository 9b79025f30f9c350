"""The thread that serves HTTP: its start, its answers and its end."""

import asyncio
import http.client
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import pytest
import uvloop
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from streamlin.config.serve import ServeConfig
from streamlin.monitoring.listener import Listener, listen
from streamlin.monitoring.server import Server, ServerOptions
from tests.integration.processes import until

PATIENCE = 180
BOTH = pytest.mark.parametrize(
    ("protocol", "event_loop"), [(H11Protocol, asyncio.new_event_loop), (HttpToolsProtocol, uvloop.new_event_loop)]
)
LARGE = 50_000_000
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n"
ENDLESS = list[Request]()
"""Requests that are never answered."""


async def _answer(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def _slow(_: Request) -> Response:
    await asyncio.sleep(0.5)
    return PlainTextResponse("at last")


async def _large(_: Request) -> Response:
    return Response(bytes(LARGE))


async def _broken(_: Request) -> Response:
    raise ValueError("the text of an event")


async def _endless(request: Request) -> Response:
    ENDLESS.append(request)
    await asyncio.Event().wait()
    raise AssertionError


async def _health(_: Request) -> Response:
    return PlainTextResponse("ok")


APP = Router(
    [
        Route("/", _answer, methods=["GET", "POST"]),
        Route("/slow", _slow),
        Route("/large", _large),
        Route("/broken", _broken),
        Route("/endless", _endless),
        Route("/healthz", _health),
    ]
)


@contextmanager
def serving(options: ServerOptions | None = None, **more: Any) -> Iterator[tuple[Server, Listener]]:
    """A server at a free port."""
    listener = listen("test", "0")
    server = Server("test-server", APP, listener, options, **more)
    try:
        yield server, listener
    finally:
        server.close()


@contextmanager
def limited(protocol: type[Any], event_loop: Callable[[], Any], **limits: Any) -> Iterator[Listener]:
    """A server with other limits at a free port."""
    with serving(ServerOptions(ServeConfig(**limits), 1, protocol, event_loop)) as (_, listener):
        yield listener


def asked(listener: Listener, path: str = "/") -> tuple[int, bytes]:
    with closing(http.client.HTTPConnection("127.0.0.1", listener.port, timeout=PATIENCE)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()


def answer_on(connection: socket.socket) -> tuple[int, bytes]:
    """The answer to a request that was sent."""
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    return answer.status, answer.read()


def connected(listener: Listener) -> socket.socket:
    """A connection of its own."""
    return socket.create_connection(("127.0.0.1", listener.port), PATIENCE)


def everything(connection: socket.socket) -> bytes:
    """All that arrives until the server closes the connection."""
    parts = list[bytes]()
    try:
        while parts[-1:] != [b""]:
            parts.append(connection.recv(1 << 20))
    except ConnectionResetError:
        pass
    return b"".join(parts)


def read_after_a_second(listener: Listener) -> int:
    """The size of a large answer that the client begins to read late."""
    with connected(listener) as connection:
        connection.sendall(b"GET /large" + GET[5:])
        time.sleep(1)
        return len(everything(connection))


def is_closed_while_sending(connection: socket.socket, data: bytes) -> bool:
    """Whether the server closes a connection on which bytes are sent one by one."""
    connection.settimeout(0.01)
    for i in range(3000):
        try:
            if connection.recv(1) == b"":
                return True
        except TimeoutError:
            connection.sendall(data[i : i + 1])
        except ConnectionResetError:
            return True
    return False


def test_closing_waits_for_running_requests_and_ends_the_thread() -> None:
    before, answers = threading.active_count(), list[tuple[int, bytes]]()
    with serving() as (_, listener):
        assert asked(listener) == (200, b"0")
        client = threading.Thread(target=lambda: answers.append(asked(listener, "/slow")))
        client.start()
        time.sleep(0.2)
    client.join()
    assert answers == [(200, b"at last")]
    assert threading.active_count() == before
    with pytest.raises(ConnectionRefusedError):
        asked(listener)


def test_stop_may_be_called_twice_and_ended_is_called_once() -> None:
    ends = list[str]()
    with serving(ended=lambda: ends.append(threading.current_thread().name)) as (server, _):
        server.stop()
        server.stop()
    assert ends == ["test-server"]


def test_an_error_that_ends_the_thread_is_raised_by_close() -> None:
    ended = threading.Event()

    def no_loop() -> asyncio.AbstractEventLoop:
        raise OSError("no event loop")

    listener = listen("test", "0")
    server = Server("test-server", APP, listener, ServerOptions(event_loop=no_loop), ended=ended.set)
    assert ended.wait(PATIENCE)
    with pytest.raises(OSError, match="no event loop"):
        server.close()
    listener.socket.close()


def test_alongside_runs_on_the_event_loop_until_the_end() -> None:
    states = list[str]()

    async def alongside() -> None:
        states.append(threading.current_thread().name)
        try:
            await asyncio.Event().wait()
        finally:
            states.append("cancelled")

    with serving(alongside=alongside) as (_, listener):
        asked(listener)
    assert states == ["test-server", "cancelled"]


@BOTH
def test_connections_without_headers_are_closed_in_time(protocol: type[Any], event_loop: Callable[[], Any]) -> None:
    """Whether they send nothing, or headers that do not end; a body may take longer."""
    with limited(protocol, event_loop, idle_seconds=0.3) as listener:
        silent, slow, body = (connected(listener) for _ in range(3))
        with silent, slow, body:
            slow.sendall(GET[:-2])
            body.sendall(POST)
            assert (silent.recv(1), slow.recv(1)) == (b"", b"")
            body.sendall(b"ab")
            assert answer_on(body) == (200, b"2")


@BOTH
def test_idle_connections_are_closed_in_time(protocol: type[Any], event_loop: Callable[[], Any]) -> None:
    """After an answer, whether they send nothing, or headers byte by byte."""
    with limited(protocol, event_loop, idle_seconds=0.3) as listener:
        for slow in (b"", GET[:-2] + b"X-Slow: " + b"x" * 10_000):
            with connected(listener) as connection:
                connection.sendall(GET)
                assert answer_on(connection) == (200, b"0")
                assert is_closed_while_sending(connection, slow)


@BOTH
def test_a_client_that_takes_no_answer_is_cut_off(protocol: type[Any], event_loop: Callable[[], Any]) -> None:
    with limited(protocol, event_loop, idle_seconds=0.3) as listener:
        until(lambda: 0 < read_after_a_second(listener) < LARGE)  # at once, unless the machine is busy
        assert len(asked(listener, "/large")[1]) == LARGE


@BOTH
def test_large_headers_get_431(protocol: type[Any], event_loop: Callable[[], Any]) -> None:
    """On a new connection, on a used one, and after a body, which may be larger."""
    body = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500000\r\n\r\n" + bytes(500_000)
    refused = b"the headers are over serve.max_header_bytes = 65,536\n"
    with limited(protocol, event_loop) as listener:
        for before in (b"", GET, body):
            for size, status in ((60_000, 200), (66_000, 431), (150_000, 431)):
                with connected(listener) as connection:
                    connection.sendall(before)
                    assert not before or answer_on(connection)[0] == 200
                    connection.sendall(GET[:-2] + b"X-Large: " + b"x" * size + b"\r\n\r\n")
                    assert answer_on(connection) == (status, refused if status == 431 else b"0")


@BOTH
def test_a_header_or_trailer_without_end_is_cut_off(protocol: type[Any], event_loop: Callable[[], Any]) -> None:
    chunked = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"
    with limited(protocol, event_loop) as listener:
        for beginning in (GET[:-2], chunked):
            with connected(listener) as connection:
                connection.sendall(beginning + b"X-Large: ")
                with pytest.raises((BrokenPipeError, ConnectionResetError)):
                    connection.sendall(b"x" * 50_000_000)
        assert asked(listener) == (200, b"0")


@BOTH
def test_many_pipelined_requests_are_all_answered(protocol: type[Any], event_loop: Callable[[], Any]) -> None:
    """Together their headers are larger than those of one request may be."""
    with limited(protocol, event_loop) as listener, connected(listener) as connection:
        connection.sendall(GET * 4999 + GET[:-2] + b"Connection: close\r\n\r\n")
        assert everything(connection).count(b"HTTP/1.1 200 OK") == 5000


@BOTH
def test_a_half_closed_connection_is_answered(protocol: type[Any], event_loop: Callable[[], Any]) -> None:
    """If its request is complete."""
    cases = [(b"GET /slow" + GET[5:], b"at last"), (POST + b"ab", b"2"), (POST + b"a", b""), (GET[:-2], b"")]
    with limited(protocol, event_loop) as listener:
        for sent, answered in cases:
            with connected(listener) as connection:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                found = everything(connection)
                assert found.endswith(answered)
                assert bool(found) == bool(answered)


@BOTH
def test_silent_connections_make_room_for_others(protocol: type[Any], event_loop: Callable[[], Any]) -> None:
    """Beyond the limit the one that has waited longest is closed; those whose requests are answered stay."""
    notices = list[str]()
    options = ServerOptions(ServeConfig(max_connections=3), 1, protocol, event_loop, notice=notices.append)
    with serving(options) as (_, listener):
        first, second, busy = (connected(listener) for _ in range(3))
        with first, second, busy:
            for connection in (first, second):
                connection.sendall(GET[:20])
            busy.sendall(b"GET /slow" + GET[5:])
            assert asked(listener) == (200, b"0")
            assert first.recv(1) == b""
            second.sendall(GET[20:])
            assert answer_on(second) == (200, b"0")
            assert answer_on(busy) == (200, b"at last")
    assert notices == [
        "serve.max_connections = 3 connections are open; for a new connection the one that has waited longest is closed"
    ]


@BOTH
def test_the_health_is_answered_if_all_connections_are_busy(protocol: type[Any], event_loop: Callable[[], Any]) -> None:
    """Many that are silent do not hinder it either."""
    ENDLESS.clear()
    with limited(protocol, event_loop, max_connections=2) as listener, ExitStack() as opened:
        for number in range(2):
            opened.enter_context(connected(listener)).sendall(b"GET /endless" + GET[5:])
            until(lambda: len(ENDLESS) > number)  # noqa: B023  # it is called in this round
        assert asked(listener, "/healthz") == (200, b"ok")
        assert asked(listener) == (503, b"serve.max_connections = 2 connections are open; try again\n")
        for _ in range(50):
            opened.enter_context(connected(listener))
        assert asked(listener, "/healthz") == (200, b"ok")


def test_an_unexpected_error_gets_500_and_a_line_without_its_text() -> None:
    notices = list[str]()
    with serving(ServerOptions(notice=notices.append)) as (_, listener):
        assert asked(listener, "/broken") == (500, b"an unexpected error: ValueError\n")
    (line,) = notices
    assert re.fullmatch(r"a request to '/broken' failed: ValueError in \S+/test_server\.py, line \d+", line)


def test_bodies_that_do_not_arrive_do_not_delay_the_end() -> None:
    """They are refused a second after the stop."""
    with serving(ServerOptions(end_seconds=1000)) as (server, listener), connected(listener) as connection:
        connection.sendall(POST + b"a")
        assert asked(listener) == (200, b"0")
        server.close()
        assert connection.recv(1000).startswith(b"HTTP/1.1 503 Service Unavailable")


def test_requests_that_take_too_long_get_503_at_the_end() -> None:
    with serving(ServerOptions(end_seconds=1)) as (server, listener), connected(listener) as connection:
        ENDLESS.clear()
        connection.sendall(b"GET /endless" + GET[5:])
        until(lambda: ENDLESS)
        server.close()
        assert everything(connection).endswith(b"the server has stopped before the request was answered\n")


def test_closing_at_once_waits_for_no_request() -> None:
    with serving(ServerOptions(end_seconds=1000)) as (server, listener), connected(listener) as connection:
        ENDLESS.clear()
        connection.sendall(b"GET /endless" + GET[5:])
        until(lambda: ENDLESS)
        server.close(at_once=True)
        assert everything(connection).endswith(b"the server has stopped before the request was answered\n")
