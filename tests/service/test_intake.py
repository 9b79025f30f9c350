"""Bodies that arrive in pieces, slowly, or not at all."""

import asyncio
from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Message, Scope

from streamlin.config.serve import ServeConfig
from streamlin.service.intake import Intake


async def _size(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


APP = Starlette(routes=[Route("/", _size, methods=["POST"])])


def status_and_body(parts: Sequence[Message]) -> tuple[int, bytes] | None:
    """The answer to a body of which only these parts arrive; None: no answer."""
    scope: Scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "query_string": b"",
        "headers": [(b"content-type", b"Application/JSON; charset=utf-8")],
    }
    coming, sent = list(parts), list[Message]()

    async def receive() -> Message:
        if not coming:
            await asyncio.Event().wait()
        return coming.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    limits = ServeConfig(max_body_bytes=10, body_seconds=0.05)
    asyncio.run(Intake(APP, ("/",), limits)(scope, receive, send))
    return (sent[0]["status"], sent[1]["body"]) if sent else None


def part(body: bytes, more: bool = True) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


def test_pieces_are_joined() -> None:
    assert status_and_body([part(b"", False)]) == (200, b"0")
    assert status_and_body([part(b"12345"), part(b"6789"), part(b"", False)]) == (200, b"9")
    assert status_and_body([part(b"12345"), part(b"67890", False)]) == (200, b"10")


def test_too_large_bodies_get_413() -> None:
    refused = (413, b'{"error":"the body is over serve.max_body_bytes = 10"}')
    assert status_and_body([part(b"12345678901", False)]) == refused
    assert status_and_body([part(b"12345"), part(b"67890"), part(b"1"), part(b"2" * 50), part(b"", False)]) == refused
    assert status_and_body([part(b"1" * 100), part(b"2" * 100)]) == refused  # before the end of an endless body


def test_too_slow_bodies_get_408() -> None:
    reason = b"the body did not arrive within serve.body_seconds = 0.05 seconds"
    assert status_and_body([part(b"12345")]) == (408, b'{"error":"%s"}' % reason)


def test_disconnected_clients_get_no_answer() -> None:
    assert status_and_body([part(b"12345"), {"type": "http.disconnect"}]) is None
    assert status_and_body([{"type": "http.disconnect"}]) is None
