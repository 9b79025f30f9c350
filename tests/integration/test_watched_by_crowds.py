"""A run does not end because of who watches it: many connections to its page and its metrics' port, and few files."""

import socket
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.command_line import command_line
from tests.integration.pages import address_of, asked, followed, snapshots, started
from tests.integration.processes import PATIENCE, finish, until
from tests.integration.streams import write_lines

FILES = 200
FEW_FILES = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({FILES}, {FILES}))"
EVENTS = 200
LIMITS = ("--set", "serve.reserved_files=60", "--set", "checkpoint.every_events=10", "--learner", "perceptron")


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    events = [{"text": f"word{i % 7} word{i % 3}", "label": str(i % 3)} for i in range(EVENTS)]
    return write_lines(tmp_path / "in.jsonl", events)


def test_silent_connections_take_no_files_from_a_run(stream: Path, tmp_path: Path) -> None:
    """More than its files allow, to both ports: it writes checkpoints and predictions, and answers others."""
    state, out = tmp_path / "state", tmp_path / "out.jsonl"
    outputs = ("--checkpoint", state, "--predictions", out, "--metrics", 0)
    process, page = started("run", stream, "--follow", *outputs, *LIMITS, before=FEW_FILES)
    metrics = address_of(process)
    with ExitStack() as opened:
        for number in range(2 * FILES):
            parts = urlsplit(page if number % 2 else metrics)
            opened.enter_context(socket.create_connection((parts.hostname, parts.port), PATIENCE))
        until((state / "checkpoint.safetensors").exists, process)
        assert asked(metrics, "healthz")[0] == 200
        assert asked(metrics, "metrics")[0] == 200
        assert asked(page)[0] == 200
        last = followed(process, page, EVENTS)[-1]
        done = finish(process)
    assert last["counts"]["events"] == EVENTS
    assert done.code == 0
    assert "200 open files (ulimit -n) allow beside serve.reserved_files = 60; for a new connection" in done.err
    assert out.read_bytes().count(b"\n") == EVENTS
    assert command_line("inspect", state, "--json").lines[0]["events"] == EVENTS


def test_pages_beyond_the_limit_get_503_that_names_the_key(stream: Path) -> None:
    process, page = started("run", stream, "--follow", *LIMITS, "--set", "serve.max_pages=1")
    told = snapshots(page)
    next(told)
    assert asked(page, "events") == (503, "serve.max_pages = 1 pages are open; try again\n")
    process.terminate()
    assert list(told)[-1]["done"]
    assert finish(process).code == 0


def test_hosts_of_the_configuration_may_show_page_and_metrics(stream: Path) -> None:
    hosts = ("--set", 'serve.hosts=["page.example"]', "--metrics", 0)
    process, page = started("run", stream, "--follow", *LIMITS, *hosts)
    metrics = address_of(process)
    for url in (page, f"{metrics}metrics"):
        parts = urlsplit(url)
        for host, status in (("page.example", b"200"), ("other.example", b"400")):
            with socket.create_connection((parts.hostname, parts.port), PATIENCE) as connection:
                connection.sendall(b"GET %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (parts.path.encode(), host.encode()))
                assert connection.recv(1000).startswith(b"HTTP/1.1 " + status)
    process.terminate()
    assert finish(process).code == 0
