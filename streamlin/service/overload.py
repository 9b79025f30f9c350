"""The limit of requests that are processed at a time."""

from starlette.types import ASGIApp, Receive, Scope, Send

from streamlin.monitoring.health import PATHS
from streamlin.service.problems import RETRY, problem
from streamlin.service.traffic import RequestMetrics


class Overload:
    """Answers requests beyond the limit with 503, except for the service's health, which is always answered.

    app : answers the other requests. most : requests at a time. metrics : show how many there are.
    """

    def __init__(self, app: ASGIApp, most: int, metrics: RequestMetrics) -> None:
        self._app, self._most, self._in_flight = app, most, 0
        metrics.in_flight.set_function(lambda: self._in_flight)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, whose body may still be arriving."""
        if self._in_flight >= self._most and scope["path"] not in PATHS:
            answer = problem(
                503, f"the service is busy with serve.max_in_flight = {self._most} requests; try again", RETRY
            )
            await answer(scope, receive, send)
            return
        self._in_flight += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._in_flight -= 1
