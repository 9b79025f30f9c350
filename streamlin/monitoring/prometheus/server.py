"""Answers Prometheus, and who asks after the run's health."""

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from streamlin.monitoring.listener import Listener, is_meant
from streamlin.monitoring.prometheus.answers import TEXT, Answer, answers
from streamlin.monitoring.prometheus.watcher import Metrics

_SLOW = 10.0
"""Seconds for a client to say what it wants, and to take the answer."""


class Server:
    """Threads that answer until `close`.

    Parameters
    ----------
    metrics : what is told.
    listener : where.
    """

    def __init__(self, metrics: Metrics, listener: Listener) -> None:
        self._server = _HTTPServer(listener, answers(metrics))
        self._thread = threading.Thread(target=self._server.serve_forever, name="streamlin-metrics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _HTTPServer(ThreadingHTTPServer):
    """Takes a socket that listens already."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, listener: Listener, paths: dict[str, Callable[[str], Answer]]) -> None:
        super().__init__((listener.address, listener.port), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket, self.listener, self.paths = listener.socket, listener, paths

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle is no news of the run."""


class _Handler(BaseHTTPRequestHandler):
    server: _HTTPServer
    timeout = _SLOW

    def do_GET(self) -> None:
        """One of the paths, or 404."""
        status, kind, body = self._answer()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815  # the base class calls it so

    def _answer(self) -> Answer:
        listener = self.server.listener
        # Where others may ask, they know this machine by many names: a cluster's, a proxy's. What is told is no secret.
        if listener.is_local and not is_meant(self.headers["Host"], listener):
            return 400, TEXT, b"this host name is not that of the metrics\n"
        answer = self.server.paths.get(self.path.partition("?")[0])
        if answer is None:
            return 404, TEXT, b"there is /metrics, /healthz, /readyz\n"
        return answer(self.headers.get("Accept", ""))

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """In plain text; a method that is not there is refused as such."""
        code = 405 if code == 501 else code
        body = b"there is only GET and HEAD\n" if code == 405 else f"{code}: that is no request\n".encode()
        self.send_response(code)
        if code == 405:
            self.send_header("Allow", "GET, HEAD")
        self.send_header("Content-Type", TEXT)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class calls it so
        """Standard error is the run's."""

    def version_string(self) -> str:
        """Without Python's version."""
        return "streamlin"
