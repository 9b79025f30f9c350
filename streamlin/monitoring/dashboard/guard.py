"""What may be asked of the page's server, and what a browser may do with the answer."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from streamlin.monitoring.listener import Listener, is_meant

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


class Guard:
    """Refuses requests whose `Host` is not this machine, and those that would change something; adds headers.

    app : answers the others. listener : where they come in.
    """

    def __init__(self, app: ASGIApp, listener: Listener) -> None:
        self._app, self._listener = app, listener

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._app_for(scope)(scope, receive, send_guarded)

    def _app_for(self, scope: Scope) -> ASGIApp:
        if not is_meant(Headers(scope=scope).get("host"), self._listener):
            return PlainTextResponse("this host name is not that of the page\n", 400)
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("there is only GET and HEAD\n", 405, {"Allow": "GET, HEAD"})
        return self._app
