"""The token that clients need."""

import hmac

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from streamlin.monitoring.health import PATHS
from streamlin.service.label_page import PATHS as LABEL_PATHS
from streamlin.service.problems import problem


class TokenCheck:
    """Answers requests without the token with 401.

    The paths of the service's health need none, and neither do the page's files. The scheme's name may be in upper or
    lower case (RFC 9110).

    app : answers all other requests. token : the token that clients need; None: they need none.
    """

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app = app
        self._expected = None if token is None else token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        app = self._app if self._is_authorized(scope) else _UNAUTHORIZED
        await app(scope, receive, send)

    def _is_authorized(self, scope: Scope) -> bool:
        if self._expected is None or scope["path"] in (*PATHS, *LABEL_PATHS):
            return True
        scheme, _, found = Headers(scope=scope).get("authorization", "").partition(" ")
        is_equal = hmac.compare_digest(found.strip(" ").encode("latin-1"), self._expected)
        return is_equal and scheme.lower() == "bearer"


_UNAUTHORIZED = problem(401, "needs the header Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"})
