"""Checks of requests, and headers of answers, as ASGI middleware for every server."""

import ipaddress
import socket
from collections.abc import Callable, Mapping, Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from streamlin.monitoring.health import PATHS
from streamlin.monitoring.listener import Listener

NO_SNIFFING = {"X-Content-Type-Options": "nosniff"}
"""Browsers take an answer for what its Content-Type says."""


class HostCheck:
    """Answers requests for another host with 400; the health is told whatever the host.

    Parameters
    ----------
    app : answers all other requests.
    listener : where requests arrive.
    problem : makes the answer from a status and a reason.
    hosts : further names that are allowed.
    always : check even where other machines can connect. They may know this machine by many names, of a cluster or a
        proxy.
    """

    def __init__(
        self,
        app: ASGIApp,
        listener: Listener,
        problem: Callable[[int, str], Response],
        hosts: Sequence[str] = (),
        always: bool = False,
    ) -> None:
        self._app, self._listener, self._problem = app, listener, problem
        self._checks, self._hosts = always or listener.is_local, frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        host = Headers(scope=scope).get("host")
        app = self._app if not self._checks or self._allows(host) or scope["path"] in PATHS else self._refusal(host)
        await app(scope, receive, send)

    def _allows(self, host: str | None) -> bool:
        return host_is_allowed(host, self._listener) or _host_of(host or "") in self._hosts

    def _refusal(self, host: str | None) -> Response:
        found = "no Host header" if host is None else f"the host {host!r:.60} in the Host header"
        return self._problem(400, f"{found}: expected this machine's name or address, or a name in serve.hosts")


class ReadOnly:
    """Answers all methods but GET and HEAD with 405."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        app = self._app
        if scope["method"] not in ("GET", "HEAD"):
            app = PlainTextResponse("only GET and HEAD are allowed\n", 405, {"Allow": "GET, HEAD"})
        await app(scope, receive, send)


class WithHeaders:
    """Adds headers to every answer."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self._app, self._headers = app, headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        await self._app(scope, receive, send_with_headers)


def host_is_allowed(header: str | None, listener: Listener) -> bool:
    """Whether a `Host` header names this machine: an address, `localhost`, the machine's name, or the host given.

    A web page elsewhere can point a name of its own at this machine (DNS rebinding), and the browser would then let it
    read the answers. The browser sends that name in `Host`.
    """
    host = _host_of(header or "")
    if host in ("localhost", listener.host.lower()):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return not listener.is_local and host in (socket.gethostname().lower(), socket.getfqdn().lower())
    return address.is_loopback or not listener.is_local


def _host_of(header: str) -> str:
    """The host in lower case, without the port or the brackets of an IPv6 address."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()
