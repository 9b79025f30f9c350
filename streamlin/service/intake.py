"""Limits of a request's body: its type, its encoding, its size and the time it takes to arrive."""

import asyncio
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from streamlin.config.serve import ServeConfig
from streamlin.monitoring.limited_protocol import READ_OVER
from streamlin.service.encodings import decoded, encoding_of
from streamlin.service.problems import RETRY, Refused

_END = {"Connection": "close"}


class _Share:
    """The bytes that one request holds, of those that all requests may hold."""

    def __init__(self, held: "_Held") -> None:
        self._held, self.size = held, 0

    def add(self, size: int) -> None:
        """Hold some more. Raises Refused if all requests together hold too much."""
        self.size += size
        self._held.size += size
        if self._held.size > self._held.most:
            raise Refused(
                503, f"bodies of serve.max_in_flight_bytes = {self._held.most:,} are in flight; try again", RETRY | _END
            )


class _Held:
    """The bytes that bodies hold, from their arrival until their request is answered."""

    def __init__(self, most: int) -> None:
        self.most, self.size = most, 0

    @contextmanager
    def share(self) -> Iterator[_Share]:
        """For one request; its bytes are free again at the end."""
        share = _Share(self)
        try:
            yield share
        finally:
            self.size -= share.size


class Intake:
    """Passes on requests with their whole body, decoded, which must be JSON of a bounded size.

    Browsers let a web page elsewhere send some types without asking the server first, but not `application/json`; so no
    such page can make the service learn.

    Parameters
    ----------
    app : answers requests whose body is right.
    paths : those that take a body.
    limits : bytes, and seconds for a body to arrive.
    """

    def __init__(self, app: ASGIApp, paths: Collection[str], limits: ServeConfig) -> None:
        self._app, self._paths = app, paths
        self._most, self._patience = limits.max_body_bytes, limits.body_seconds
        self._held = _Held(limits.max_in_flight_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["method"] != "POST" or scope["path"] not in self._paths:
            await self._app(scope, receive, send)
            return
        with self._held.share() as share:
            try:
                body = await self._body(Headers(scope=scope), receive, share)
            except Refused as refused:
                await refused.answer(scope, receive, send)
                return
            if body is not None:
                whole: Message = {"type": "http.request", "body": body, "more_body": False}
                await self._app(scope, _Once(whole, receive), send)

    async def _body(self, headers: Headers, receive: Receive, share: _Share) -> bytes | None:
        """The decoded body; None if the client has disconnected. Raises Refused."""
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            found = f"'{kind:.60}'" if kind else "none"
            raise Refused(415, f"Content-Type: expected application/json, got {found}")
        encoding = encoding_of(headers.getlist("content-encoding"))
        body = await self._arrived(receive, share)
        if body is None or encoding is None:
            return body
        body = decoded(body, encoding, self._most)
        share.add(len(body))
        return body

    async def _arrived(self, receive: Receive, share: _Share) -> bytes | None:
        first = await receive()
        try:
            if first.get("more_body"):
                async with asyncio.timeout(self._patience):
                    return await self._whole(first, receive, share)
        except TimeoutError:
            seconds = f"serve.body_seconds = {self._patience:g}"
            raise Refused(408, f"the body did not arrive within {seconds} seconds", _END) from None
        return await self._whole(first, receive, share)

    async def _whole(self, message: Message, receive: Receive, share: _Share) -> bytes | None:
        """The bytes of a body that begins with a message; None if the client has disconnected."""
        parts, size = [], 0
        while message["type"] == "http.request":
            size += len(message["body"])
            if size <= self._most:
                share.add(len(message["body"]))
                parts.append(message["body"])
            if not message.get("more_body") or size > READ_OVER * self._most:
                break
            message = await receive()
        else:
            return None
        if size > self._most:
            raise Refused(413, f"the body is over serve.max_body_bytes = {self._most:,}", _END)
        return b"".join(parts)


class _Once:
    """Returns a message once, then the messages that follow."""

    def __init__(self, message: Message, receive: Receive) -> None:
        self._message: Message | None = message
        self._receive = receive

    async def __call__(self) -> Message:
        message, self._message = self._message, None
        return await self._receive() if message is None else message
