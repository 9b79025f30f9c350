"""Who may ask."""

import hmac

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from streamlin.monitoring.listener import Listener, is_meant
from streamlin.service.problems import problem

OPEN = ("/healthz", "/readyz")
"""Paths that need no token: whoever starts and stops the service has none."""


class Guard:
    """Refuses requests without the token, and, where this machine alone is served, those that name another one.

    app : answers the others. listener : where they come in. token : that they have to show; None: none.
    """

    def __init__(self, app: ASGIApp, listener: Listener, token: str | None) -> None:
        self._app, self._listener, self._is_local = app, listener, listener.is_local
        self._shown = None if token is None else f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        await self._app_for(scope)(scope, receive, send)

    def _app_for(self, scope: Scope) -> ASGIApp:
        headers = Headers(scope=scope)
        # Others may know this machine by many names: a cluster's, a proxy's.
        if self._is_local and not is_meant(headers.get("host"), self._listener):
            return problem(400, "this host name is not that of the service")
        if self._shown is not None and scope["path"] not in OPEN:
            shown = headers.get("authorization", "").encode("latin-1")
            if not hmac.compare_digest(shown, self._shown):
                return problem(401, "needs the header Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"})
        return self._app
