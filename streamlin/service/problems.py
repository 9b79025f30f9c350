"""Answers to requests that cannot be fulfilled."""

from collections.abc import Mapping

import msgspec
from starlette.responses import Response

RETRY = {"Retry-After": "1"}
"""Seconds after which the client may try again."""


class Refused(Exception):  # noqa: N818  # says what happens
    """A request that is answered with a status and a reason."""

    def __init__(self, status: int, reason: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(reason)
        self.status, self.reason, self.headers = status, reason, headers

    @property
    def answer(self) -> Response:
        """The answer to the client."""
        return problem(self.status, self.reason, self.headers)


def problem(status: int, reason: str, headers: Mapping[str, str] | None = None) -> Response:
    """The answer `{"error": reason}`."""
    return Response(msgspec.json.encode({"error": reason}), status, headers, "application/json")
