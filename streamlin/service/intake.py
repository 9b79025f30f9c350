"""Limits of a request's body: its type, its size and the time it takes to arrive."""

import asyncio
from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from streamlin.service.problems import problem

_READ_OVER = 16
"""Up to this many times the allowed size is read and thrown away: a client that is still sending would not see the
answer."""
_END = {"Connection": "close"}


class Intake:
    """Passes on requests with their whole body, which must be JSON of a bounded size.

    Browsers let a web page elsewhere send some types without asking the server first, but not `application/json`; so no
    such page can make the service learn.

    Parameters
    ----------
    app : answers requests whose body is right.
    paths : those that take a body.
    most : bytes of a body.
    patience : seconds for a body to arrive.
    """

    def __init__(self, app: ASGIApp, paths: Collection[str], most: int, patience: float = 30.0) -> None:
        self._app, self._paths, self._most, self._patience = app, paths, most, patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["method"] != "POST" or scope["path"] not in self._paths:
            await self._app(scope, receive, send)
            return
        kind = Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            found = f"'{kind:.60}'" if kind else "none"
            await problem(415, f"Content-Type: expected application/json, got {found}")(scope, receive, send)
            return
        try:
            first = await receive()
            if first.get("more_body"):
                async with asyncio.timeout(self._patience):
                    first = await self._whole(first, receive)
        except TimeoutError:
            answer = problem(408, f"the body did not arrive within {self._patience:g} seconds", _END)
            await answer(scope, receive, send)
            return
        if first["type"] != "http.request":
            return  # the client has disconnected
        if len(first["body"]) > self._most:
            answer = problem(413, f"the body is over serve.max_body_bytes = {self._most:,}", _END)
            await answer(scope, receive, send)
            return
        await self._app(scope, _Once(first, receive), send)

    async def _whole(self, message: Message, receive: Receive) -> Message:
        """The whole body in one message; only the beginning of one that is too large."""
        parts, size = [message["body"]], len(message["body"])
        while message.get("more_body") and size <= _READ_OVER * self._most:
            message = await receive()
            if message["type"] != "http.request":
                return message
            size += len(message["body"])
            if size - len(message["body"]) <= self._most:
                parts.append(message["body"])
        return {"type": "http.request", "body": b"".join(parts), "more_body": False}


class _Once:
    """Returns a message once, then the messages that follow."""

    def __init__(self, message: Message, receive: Receive) -> None:
        self._message: Message | None = message
        self._receive = receive

    async def __call__(self) -> Message:
        message, self._message = self._message, None
        return await self._receive() if message is None else message
