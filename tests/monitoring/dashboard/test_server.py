"""The page's server, as browsers and attackers would use it."""

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from streamlin.monitoring.dashboard.server import serve_page
from streamlin.monitoring.dashboard.static import FILES
from streamlin.monitoring.dashboard.watcher import Dashboard
from streamlin.monitoring.listener import listen
from tests.monitoring.dashboard.test_frames import snapshot

PATIENCE = 180


class Site:
    """A served dashboard without a run."""

    def __init__(self) -> None:
        self.dashboard = Dashboard()
        listener = listen("--dashboard", "0")
        self.port = listener.port
        self._connections: list[http.client.HTTPConnection] = []
        self._answers: list[http.client.HTTPResponse] = []
        self.server = serve_page(self.dashboard, listener)

    def ask(self, path: str, method: str = "GET", host: str | None = None) -> http.client.HTTPResponse:
        """An answer whose body is still to be read."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        self._connections.append(connection)
        connection.request(method, path, headers={} if host is None else {"Host": host})
        self._answers.append(answer := connection.getresponse())
        return answer

    def close(self) -> None:
        """Close all connections and the server."""
        for open_one in (*self._answers, *self._connections):
            open_one.close()
        self.server.close()


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.close()


def shown(data: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """A snapshot of these contents."""
    return lambda: data


def next_data(answer: http.client.HTTPResponse) -> dict[str, Any]:
    """The next snapshot in a stream of events."""
    while True:
        line = answer.readline()
        assert line, "the stream has ended"
        if line.startswith(b"data: "):
            data: dict[str, Any] = json.loads(line.removeprefix(b"data: "))
            return data


def test_every_file_is_served_with_its_type(site: Site) -> None:
    """The whole page is smaller than 300 kB."""
    total = 0
    for path in ("/", *(f"/{name}" for name in FILES)):
        answer = site.ask(path)
        body = answer.read()
        assert answer.status == 200
        assert answer.headers["Content-Type"] == FILES[path[1:] or "index.html"]
        total += len(body)
    assert total < 300_000


def test_the_page_loads_nothing_from_elsewhere(site: Site) -> None:
    """The files name no other machine, and the policy forbids loading from one."""
    for path in ("/", "/page.js", "/page.css", "/uPlot.css"):
        assert b"//" not in site.ask(path).read().replace(b"// ", b"").replace(b"https://github.com", b"")
    policy = site.ask("/").headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


STRAY = ["/nothing", "/../cli.py", "/%2e%2e/cli.py", "/static/", "/events/", "//", "/__init__.py"]


@pytest.mark.parametrize("path", STRAY)
def test_unknown_paths_get_404(site: Site, path: str) -> None:
    answer = site.ask(path)
    assert answer.status == 404
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_methods_other_than_get_and_head_get_405(site: Site, method: str) -> None:
    for path in ("/", "/events"):
        answer = site.ask(path, method)
        assert answer.status == 405
        assert answer.headers["Allow"] == "GET, HEAD"


def test_head_gets_no_body_and_ends(site: Site) -> None:
    for path in ("/", "/events"):
        answer = site.ask(path, "HEAD")
        assert answer.status == 200
        assert answer.read() == b""


def test_another_host_name_gets_400(site: Site) -> None:
    for path in ("/", "/events", "/nothing"):
        answer = site.ask(path, host="evil.example")
        assert answer.status == 400
        assert answer.read().startswith(b"the host 'evil.example' in the Host header: expected ")
    assert site.ask("/", host=f"localhost:{site.port}").status == 200


def test_noise_instead_of_http_gets_400(site: Site) -> None:
    with socket.create_connection(("127.0.0.1", site.port), PATIENCE) as noise:
        noise.sendall(b"\x16\x03\x01\x00\xff" * 100 + b"\r\n\r\n")
        assert noise.recv(1000).startswith(b"HTTP/1.1 400")
    assert site.ask("/").status == 200


def test_a_new_page_gets_everything_then_only_news(site: Site) -> None:
    site.dashboard.latest = shown(snapshot([1, 2]))
    first, second = site.ask("/events"), site.ask("/events")
    assert first.headers["Content-Type"].startswith("text/event-stream")
    assert next_data(first)["curve"]["labelled"] == [1, 2]
    assert next_data(second)["curve"]["labelled"] == [1, 2]
    site.dashboard.latest = shown(snapshot([1, 2, 3]))
    assert next_data(first)["curve"] == {"begin": 2, "labelled": [3], "accuracy": [[0.03], [0.015]]}
    assert next_data(second)["curve"]["begin"] == 2
    assert next_data(site.ask("/events"))["curve"] == {
        "begin": 0,
        "labelled": [1, 2, 3],
        "accuracy": [[0.01, 0.02, 0.03], [0.005, 0.01, 0.015]],
    }


def test_the_last_snapshot_ends_the_stream(site: Site) -> None:
    site.dashboard.latest = shown(snapshot([1]))
    answer = site.ask("/events")
    next_data(answer)
    site.dashboard.latest = shown(snapshot([1, 2], done=True))
    site.server.close()
    assert next_data(answer)["done"]
    assert answer.read().strip() == b""
    with pytest.raises(ConnectionRefusedError):
        site.ask("/")


def test_slow_and_vanished_clients_delay_no_others(site: Site) -> None:
    """Of 21 MB of snapshots one client reads nothing, one disconnects in between; a third gets each snapshot."""
    large = snapshot([1]) | {"filling": "x" * 3_000_000}
    site.dashboard.latest = shown(large)
    slow = socket.create_connection(("127.0.0.1", site.port), PATIENCE)
    slow.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    gone = site.ask("/events")
    next_data(gone)
    gone.close()
    reader = site.ask("/events")
    next_data(reader)
    for number in range(2, 8):
        site.dashboard.latest = shown(large | {"seconds": float(number)})
        assert next_data(reader)["seconds"] == number
    received = bytearray()
    latest = b'"seconds":7.0'
    while latest not in received[-3_100_000:]:
        received += slow.recv(1 << 20)
    assert received.count(b"data: ") < 7
    slow.close()


def test_more_than_100_pages_get_503(site: Site) -> None:
    site.dashboard.latest = shown(snapshot([1]))
    pages = [site.ask("/events") for _ in range(100)]
    for page in pages:
        next_data(page)
    assert site.ask("/events").status == 503
    assert site.ask("/").status == 200
    for page in pages:
        page.close()


def test_closing_ends_the_thread() -> None:
    before = threading.active_count()
    site = Site()
    site.ask("/").read()
    site.close()
    assert threading.active_count() == before
