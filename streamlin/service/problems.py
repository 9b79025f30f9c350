"""What is answered where a request can't be met."""

from collections.abc import Mapping

import msgspec
from pydantic import BaseModel, Field
from starlette.responses import Response

RETRY = {"Retry-After": "1"}
"""Seconds after which it may go better."""


class Problem(BaseModel):
    """What is wrong, in a line."""

    error: str = Field(examples=["text: field required"])


class Refused(Exception):  # noqa: N818  # says what happens
    """A request that is answered with a status and a reason."""

    def __init__(self, status: int, reason: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(reason)
        self.status, self.reason, self.headers = status, reason, headers

    @property
    def answer(self) -> Response:
        """The whole answer."""
        return problem(self.status, self.reason, self.headers)


def problem(status: int, reason: str, headers: Mapping[str, str] | None = None) -> Response:
    """A `Problem` as an answer."""
    return Response(msgspec.json.encode({"error": reason}), status, headers, "application/json")
