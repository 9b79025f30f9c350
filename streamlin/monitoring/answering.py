"""An answer to every request: also if the application fails, or the server ends before it has answered."""

import asyncio
from collections.abc import Callable
from traceback import extract_tb

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send


def plain_problem(status: int, reason: str) -> Response:
    """A reason as plain text."""
    return PlainTextResponse(f"{reason}\n", status)


class Answering:
    """Answers requests on which the application fails with 500, and those that are cancelled with 503.

    app : the application. problem : makes the answers.
    notice : gets a line about a failure; it holds no text of an event, as the error's own text may.
    """

    def __init__(self, app: ASGIApp, problem: Callable[[int, str], Response], notice: Callable[[str], None]) -> None:
        self._app, self._problem, self._notice = app, problem, notice

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        has_begun = False

        async def noted(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except asyncio.CancelledError:
            if has_begun:
                raise
            await self._problem(503, "the server has stopped before the request was answered")(scope, receive, send)
        except Exception as error:
            self._notice(f"a request to {scope['path']!r:.60} failed: {type(error).__name__} {_place_of(error)}")
            if has_begun:
                raise
            await self._problem(500, f"an unexpected error: {type(error).__name__}")(scope, receive, send)


def _place_of(error: Exception) -> str:
    last = extract_tb(error.__traceback__)[-1]
    return f"in {last.filename}, line {last.lineno}"
