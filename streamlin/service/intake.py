"""How much is taken in, of what kind, and how long that may last."""

import asyncio
from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from streamlin.service.problems import problem

_READ_OVER = 16
"""So many times what is allowed is read and thrown away: who still sends would not see the answer."""
_END = {"Connection": "close"}


class Intake:
    """Hands requests on with their whole body, where there is to be one: JSON of a bounded size.

    app : answers them. paths : that take a body. most : bytes. patience : seconds for a body to come.

    That the type must be said keeps pages in a browser from sending something here: for this one they would have to
    ask before.
    """

    def __init__(self, app: ASGIApp, paths: Collection[str], most: int, patience: float = 30.0) -> None:
        self._app, self._paths, self._most, self._patience = app, paths, most, patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["method"] != "POST" or scope["path"] not in self._paths:
            await self._app(scope, receive, send)
            return
        kind = Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            said = kind or "none"
            await problem(415, f"Content-Type: application/json is needed, not {said:.60}")(scope, receive, send)
            return
        try:
            first = await receive()
            if first.get("more_body"):
                async with asyncio.timeout(self._patience):
                    first = await self._whole(first, receive)
        except TimeoutError:
            answer = problem(408, f"the body did not come within {self._patience:g} seconds", _END)
            await answer(scope, receive, send)
            return
        if first["type"] != "http.request":
            return  # the client has gone
        if len(first["body"]) > self._most:
            answer = problem(413, f"the body is over serve.max_body_bytes = {self._most:,}", _END)
            await answer(scope, receive, send)
            return
        await self._app(scope, _Once(first, receive), send)

    async def _whole(self, message: Message, receive: Receive) -> Message:
        """All parts as one; of too much only some."""
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
    """Gives a message, and then what comes."""

    def __init__(self, message: Message, receive: Receive) -> None:
        self._message: Message | None = message
        self._receive = receive

    async def __call__(self) -> Message:
        message, self._message = self._message, None
        return await self._receive() if message is None else message
