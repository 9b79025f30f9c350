"""The thread that serves HTTP: its start, its limits and its end."""

import asyncio
import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
import uvloop
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from streamlin.monitoring.listener import Listener, listen
from streamlin.monitoring.server import Server, ServerOptions

PATIENCE = 30
PROTOCOLS = [(H11Protocol, asyncio.new_event_loop), (HttpToolsProtocol, uvloop.new_event_loop)]


async def _answer(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def _slow(_: Request) -> Response:
    await asyncio.sleep(0.5)
    return PlainTextResponse("at last")


APP = Router([Route("/", _answer, methods=["GET", "POST"]), Route("/slow", _slow)])


@contextmanager
def serving(options: ServerOptions | None = None, **more: Any) -> Iterator[tuple[Server, Listener]]:
    """A server at a free port."""
    listener = listen("test", "0")
    server = Server("test-server", APP, listener, options, **more)
    try:
        yield server, listener
    finally:
        server.close()


def asked(listener: Listener, path: str = "/") -> tuple[int, bytes]:
    with closing(http.client.HTTPConnection("127.0.0.1", listener.port, timeout=PATIENCE)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()


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


@pytest.mark.parametrize(("protocol", "event_loop"), PROTOCOLS)
def test_connections_without_headers_are_closed_in_time(protocol: type[Any], event_loop: Callable[[], Any]) -> None:
    """Whether they send nothing, or headers that do not end; a body may take longer."""
    options = ServerOptions(head_seconds=0.3, protocol=protocol, event_loop=event_loop)
    with serving(options) as (_, listener):
        silent, slow, body = (socket.create_connection(("127.0.0.1", listener.port), PATIENCE) for _ in range(3))
        with silent, slow, body:
            slow.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
            body.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n")
            assert (silent.recv(1), slow.recv(1)) == (b"", b"")
            body.sendall(b"ab")
            assert body.recv(1000).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize(("protocol", "event_loop"), PROTOCOLS)
def test_requests_beyond_the_open_connections_get_503(protocol: type[Any], event_loop: Callable[[], Any]) -> None:
    with serving(ServerOptions(connections=3, protocol=protocol, event_loop=event_loop)) as (_, listener):
        opened = [socket.create_connection(("127.0.0.1", listener.port), PATIENCE) for _ in range(3)]
        assert asked(listener)[0] == 503
        for connection in opened:
            connection.close()
        assert asked(listener)[0] == 200
