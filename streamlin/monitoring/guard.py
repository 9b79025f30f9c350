"""Checks of requests, and headers of answers, as ASGI middleware for every server."""

import ipaddress
import socket
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from streamlin.monitoring.listener import Listener

NO_SNIFFING = {"X-Content-Type-Options": "nosniff"}
"""Browsers take an answer for what its Content-Type says."""


class HostCheck:
    """Answers requests for another host itself.

    Parameters
    ----------
    app : answers all other requests.
    listener : where requests arrive.
    refusal : the answer to a request for another host.
    always : check even where other machines can connect. They may know this machine by many names, of a cluster or a
        proxy.
    """

    def __init__(self, app: ASGIApp, listener: Listener, refusal: ASGIApp, always: bool = False) -> None:
        self._app, self._listener, self._refusal = app, listener, refusal
        self._checks = always or listener.is_local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        allowed = not self._checks or host_is_allowed(Headers(scope=scope).get("host"), self._listener)
        await (self._app if allowed else self._refusal)(scope, receive, send)


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
