"""The token that clients need."""

import hmac

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from streamlin.service.problems import problem

OPEN = ("/healthz", "/readyz")
"""Paths that need no token: programs that start and supervise the service have none."""


class TokenCheck:
    """Answers requests without the token with 401.

    app : answers all other requests. token : the token that clients need; None: they need none.
    """

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app = app
        self._expected = None if token is None else f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        app = self._app if self._is_authorized(scope) else _UNAUTHORIZED
        await app(scope, receive, send)

    def _is_authorized(self, scope: Scope) -> bool:
        if self._expected is None or scope["path"] in OPEN:
            return True
        found = Headers(scope=scope).get("authorization", "").encode("latin-1")
        return hmac.compare_digest(found, self._expected)


_UNAUTHORIZED = problem(401, "needs the header Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"})
