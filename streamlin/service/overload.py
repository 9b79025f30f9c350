"""How many requests are dealt with at a time."""

from starlette.types import ASGIApp, Receive, Scope, Send

from streamlin.service.guard import OPEN
from streamlin.service.problems import RETRY, problem
from streamlin.service.traffic import Figures


class Overload:
    """Refuses requests that are too many at a time; what is asked of the service's health is always told.

    app : answers them. most : at a time. figures : are told how many there are.
    """

    def __init__(self, app: ASGIApp, most: int, figures: Figures) -> None:
        self._app, self._most, self._in_flight = app, most, 0
        figures.in_flight.set_function(lambda: self._in_flight)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, all of which is there."""
        if self._in_flight >= self._most and scope["path"] not in OPEN:
            answer = problem(503, f"serve.max_in_flight = {self._most} requests are being dealt with", RETRY)
            await answer(scope, receive, send)
            return
        self._in_flight += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._in_flight -= 1
