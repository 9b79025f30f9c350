"""Hosts that requests may name, and which methods and headers the servers allow."""

import asyncio
import socket

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Scope

from streamlin.monitoring.answering import plain_problem
from streamlin.monitoring.guard import HostCheck, ReadOnly, WithHeaders, host_is_allowed
from streamlin.monitoring.listener import Listener, listen

ANSWER = PlainTextResponse("answer")
REASON = "the host 'evil.example' in the Host header: expected this machine's name or address, or a name in serve.hosts"


def listening(text: str) -> Listener:
    """A listener whose socket is closed again."""
    listener = listen("--dashboard", text)
    listener.socket.close()
    return listener


def asked(
    app: ASGIApp, method: str = "GET", host: str = "localhost", path: str = "/"
) -> tuple[int, dict[bytes, bytes], bytes]:
    """Status, headers and body of the answer to a request."""
    scope: Scope = {"type": "http", "method": method, "path": path, "headers": [(b"host", host.encode())]}
    sent = list[Message]()

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))  # type: ignore[arg-type]  # it is a coroutine
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


def test_on_loopback_only_names_of_this_machine_are_allowed() -> None:
    listener = listening("0")
    for host in ("localhost", "LOCALHOST:8000", "127.0.0.1:8000", "127.0.0.1", "[::1]:8000"):
        assert host_is_allowed(host, listener), host
    for name in (None, "", "evil.example", "evil.example:8000", "localhost.evil.example", "10.0.0.1", "[evil]:80"):
        assert not host_is_allowed(name, listener), name


def test_elsewhere_addresses_and_the_machine_name_are_allowed() -> None:
    listener = listening("0.0.0.0:0")
    for host in ("localhost", "127.0.0.1:8000", "10.0.0.1:8000", "[2001:db8::1]:8000", socket.gethostname()):
        assert host_is_allowed(host, listener), host
    for name in (None, "", "evil.example", "evil.example:8000", "1.2.3.4.evil.example"):
        assert not host_is_allowed(name, listener), name


def test_the_host_that_the_user_gave_is_allowed() -> None:
    assert host_is_allowed("stream.example:80", listening("0")._replace(host="stream.example"))


@pytest.mark.parametrize(
    ("address", "always", "status"),
    [("0", False, 400), ("0", True, 400), ("0.0.0.0:0", False, 200), ("0.0.0.0:0", True, 400)],
)
def test_other_hosts_are_refused_where_they_are_checked(address: str, always: bool, status: int) -> None:
    app = HostCheck(ANSWER, listening(address), plain_problem, always=always)
    assert asked(app, host="evil.example")[0] == status
    assert asked(app)[0] == 200


def test_the_refusal_of_a_host_names_it_and_the_key() -> None:
    app = HostCheck(ANSWER, listening("0"), plain_problem)
    assert asked(app, host="evil.example")[2].decode() == f"{REASON}\n"


def test_hosts_of_the_configuration_are_allowed() -> None:
    app = HostCheck(ANSWER, listening("0"), plain_problem, ("Stream.example",), always=True)
    statuses = [asked(app, host=host)[0] for host in ("stream.example:80", "STREAM.example", "a.stream.example")]
    assert statuses == [200, 200, 400]


def test_the_health_is_told_whatever_the_host() -> None:
    app = HostCheck(ANSWER, listening("0"), plain_problem)
    paths = ("/healthz", "/readyz", "/metrics", "/healthz/")
    assert [asked(app, host="evil.example", path=path)[0] for path in paths] == [200, 200, 400, 400]


def test_only_get_and_head_are_allowed() -> None:
    assert [asked(ReadOnly(ANSWER), method)[0] for method in ("GET", "HEAD", "POST", "TRACE")] == [200, 200, 405, 405]
    assert asked(ReadOnly(ANSWER), "POST")[1][b"allow"] == b"GET, HEAD"


def test_headers_are_added_to_refusals_too() -> None:
    app = WithHeaders(HostCheck(ANSWER, listening("0"), plain_problem), {"X-Content-Type-Options": "nosniff"})
    for host, body in (("localhost", b"answer"), ("evil.example", f"{REASON}\n".encode())):
        _, headers, found = asked(app, host=host)
        assert (headers[b"x-content-type-options"], found) == (b"nosniff", body)
