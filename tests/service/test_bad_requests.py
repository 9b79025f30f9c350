"""Bad requests get a reason, never a 500, and the service keeps running."""

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.integration.processes import PATIENCE
from tests.service.served import JSON, Served

POSTS = ("/predict", "/learn")
DEEP = b"[" * 100_000
MALFORMED = [
    (b"", "not JSON: EOF while parsing a value"),
    (b"{", "not JSON: EOF while parsing an object"),
    (b'{"text": "a"', "not JSON: EOF while parsing an object"),
    (b'{"text": "\xff"}', "not JSON: invalid unicode code point"),
    (b'{"text": "\\ud800"}', "not JSON: unexpected end of hex escape"),
    (b'{"text": "a\x01"}', "not JSON: control character (\\u0000-\\u001F) found while parsing a string"),
    (DEEP, "not JSON: recursion limit exceeded"),
    (b'{"text": "a", "label": "b", "id": ' + DEEP, "not JSON: recursion limit exceeded"),
    (b'{"a":' * 100_000, "not JSON: recursion limit exceeded"),
]
WRONG = [
    ("/predict", "text", "expected an object, got 'text'"),
    ("/predict", None, "expected an object, got None"),
    ("/predict", {}, "text: a value is missing"),
    ("/predict", [{"text": "a"}, {"id": "1"}], "[1].text: a value is missing"),
    ("/predict", [["a"]], "[0]: expected an object, got ['a']"),
    ("/predict", {"text": 5}, "text: input should be a valid string, got 5"),
    ("/predict", {"text": None}, "text: input should be a valid string, got None"),
    ("/predict", {"text": "a", "id": ""}, "id: needs a text that is not empty, or a number, got ''"),
    ("/predict", {"text": "a", "id": True}, "id: needs a text that is not empty, or a number, got True"),
    ("/predict", {"text": "a", "id": {"a": [1]}}, "id: needs a text that is not empty, or a number, got {'a': [1]}"),
    ("/predict", {"text": "a", "label": "b"}, "label: unknown key; choose one of id, weight, time, text"),
    ("/learn", {"text": "a"}, "label: a value is missing"),
    ("/learn", {"label": "a"}, "needs a text, or the id of an earlier text, got {'label': 'a'}"),
    ("/learn", {"text": "a", "label": ""}, "label: needs a text that is not empty, or a number, got ''"),
    ("/learn", {"text": "a", "label": None}, "label: needs a text that is not empty, or a number, got None"),
    ("/learn", {"text": "a", "label": ["b"]}, "label: needs a text that is not empty, or a number, got ['b']"),
    ("/learn", {"text": ["a"], "label": "b"}, "text: input should be a valid string, got ['a']"),
    ("/learn", {"texts": "a", "label": "b"}, "texts: unknown key; did you mean 'text'?"),
    ("/learn", {"text": "a", "label": "b", "weight": -1}, "weight: input should be greater than or equal to 0, got -1"),
    (
        "/learn",
        {"text": "a", "label": "b", "weight": 1.7e308},
        "weight: input should be less than or equal to 1000000000, got 1.7e+308",
    ),
    ("/learn", {"text": "a", "label": "b", "weight": "1"}, "weight: input should be a valid number, got '1'"),
    (
        "/learn",
        {"text": "a", "label": "b", "time": "noon"},
        "time: needs Unix seconds or RFC 3339, as 2024-05-01T12:00:00Z, got 'noon'",
    ),
    (
        "/learn",
        {"text": "a", "label": "b", "time": [1]},
        "time: needs Unix seconds or RFC 3339, as 2024-05-01T12:00:00Z, got [1]",
    ),
    ("/learn", [{"text": "a", "label": "b"}, 7], "[1]: expected an object, got 7"),
]
NOT_FINITE = [b"NaN", b"Infinity", b"-Infinity", b"1e999"]


@pytest.fixture(autouse=True)
def _keeps_running_and_accepts_nothing(service: Served) -> Iterator[None]:
    """After each test the service is healthy, and has accepted nothing."""
    before = len(service.lines)
    yield
    assert service.ask("GET", "/healthz").status == 200
    assert len(service.lines) == before


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(("body", "reason"), MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_json_gets_400(service: Served, path: str, body: bytes, reason: str) -> None:
    answer = service.ask("POST", path, body, JSON)
    assert answer.status == 400
    assert answer.error.partition(" at line 1 column ")[0] == reason


@pytest.mark.parametrize(("path", "value", "reason"), WRONG, ids=[reason[:40] for _, _, reason in WRONG])
def test_wrong_values_get_422_and_the_reason(service: Served, path: str, value: object, reason: str) -> None:
    answer = service.post(path, value)
    assert answer.status == 422
    assert answer.error == reason


@pytest.mark.parametrize("number", NOT_FINITE)
@pytest.mark.parametrize("key", ["id", "label", "weight", "time"])
def test_numbers_that_are_not_finite_get_422(service: Served, key: str, number: bytes) -> None:
    body = b'{"text": "a", "label": "b", "%s": %s}' % (key.encode(), number)
    answer = service.ask("POST", "/learn", body, JSON)
    assert answer.status == 422
    assert answer.error.startswith(f"{key}: ")


def test_too_many_events_in_a_request_get_422(service: Served) -> None:
    answer = service.post("/predict", [{"text": "a"}] * 101)
    assert answer.status == 422
    assert answer.error == "101 events, but at most 100 in one request"
    assert len(service.post("/predict", [{"text": "a"}] * 100).value) == 100


@pytest.mark.parametrize("size", [4_000_001, 30_000_000])
def test_oversized_bodies_get_413(service: Served, size: int) -> None:
    """With or without a Content-Length."""
    body = b'{"text": "%s"}' % (b"x" * size)
    for path in POSTS:
        answer = service.ask("POST", path, body, JSON)
        assert answer.status == 413
        assert answer.error == "the body is over serve.max_body_bytes = 4,000,000"
    connection = service.connected()
    pieces = (body[i : i + 100_000] for i in range(0, len(body), 100_000))
    connection.request("POST", "/predict", pieces, JSON, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()


def test_a_body_without_end_is_cut_off(service: Served) -> None:
    """The service reads and discards some of it, then answers and closes the connection."""
    with socket.create_connection((service.host, service.port), timeout=PATIENCE) as connection:
        connection.sendall(
            b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        chunk = b"%x\r\n%s\r\n" % (1 << 20, b"x" * (1 << 20))
        sent = 0
        try:
            while sent < 1 << 30:
                connection.sendall(chunk)
                sent += len(chunk)
        except (BrokenPipeError, ConnectionResetError):
            pass
    assert 16 * 4_000_000 < sent < 1 << 28


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
def test_types_other_than_json_get_415(service: Served, kind: str | None) -> None:
    """So a page in a browser cannot send events: it may send only other types to another site."""
    answer = service.ask(
        "POST", "/learn", b'{"text": "a", "label": "b"}', {} if kind is None else {"Content-Type": kind}
    )
    assert answer.status == 415
    assert answer.error == "Content-Type: expected application/json, got " + (f"'{kind}'" if kind else "none")


def test_another_host_name_gets_400(service: Served) -> None:
    """A foreign name that was made to resolve to this machine (DNS rebinding)."""
    answer = service.ask("POST", "/predict", b"{}", JSON | {"Host": "evil.example"})
    assert answer.status == 400
    assert answer.error == (
        "the host 'evil.example' in the Host header: expected this machine's name or address, or a name in serve.hosts"
    )
    assert service.ask("GET", "/healthz", None, {"Host": "evil.example"}).status == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/docs", 404),
        ("POST", "/predict/", 404),
        ("POST", "/%2e%2e/learn", 404),
        ("GET", "/predict", 405),
        ("PUT", "/learn", 405),
        ("DELETE", "/metrics", 405),
        ("POST", "/healthz", 405),
        ("HEAD", "/healthz", 200),
        ("HEAD", "/metrics", 200),
    ],
)
def test_paths_and_methods_that_are_not_there(service: Served, method: str, path: str, status: int) -> None:
    answer = service.ask(method, path, None, JSON)
    assert answer.status == status
    if status == 405:
        assert answer.headers["allow"]
    if status >= 400:
        assert answer.error


def test_an_invalid_query_parameter_gets_422(service: Served) -> None:
    answer = service.post("/predict?await_label=perhaps", {"text": "a"})
    assert answer.status == 422
    assert answer.error == "await_label: needs true or false, got 'perhaps'"


@pytest.mark.parametrize("request_", [b"GET / HTTP/1.1\r\n\r\n", b"nonsense\r\n\r\n", b"\x16\x03\x01\x02\x00\x01" * 20])
def test_noise_instead_of_http_gets_400(service: Served, request_: bytes) -> None:
    with socket.create_connection((service.host, service.port), timeout=PATIENCE) as connection:
        connection.sendall(request_)
        assert connection.recv(100).startswith(b"HTTP/1.1 400 Bad Request")


def test_a_client_that_disconnects_within_its_body(service: Served) -> None:
    head = b"POST /learn HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    for _ in range(20):
        with socket.create_connection((service.host, service.port), timeout=PATIENCE) as connection:
            connection.sendall(head + b'[{"text": "a", "label": "b"}')


def test_many_bad_requests_at_a_time(service: Served) -> None:
    with ThreadPoolExecutor(8) as threads:
        answers = threads.map(lambda number: service.post(POSTS[number % 2], {"text": number}).status, range(200))
    assert set(answers) == {422}


def test_quoted_input_is_escaped_in_reasons(service: Served) -> None:
    answer = service.post("/learn", {"text": "a", "label": "b", '\x00"\\\n\u2028': "<script>"})
    assert answer.status == 422
    assert answer.headers["content-type"] == "application/json"
    assert json.loads(answer.body)["error"].startswith('\x00"\\\n\u2028: unknown key; ')
