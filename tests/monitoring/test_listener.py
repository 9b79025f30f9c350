"""Addresses to listen on."""

import re
import socket

import pytest

from streamlin.errors import ConfigError
from streamlin.monitoring.listener import listen


def test_without_a_host_only_this_machine_can_connect() -> None:
    listener = listen("--dashboard", "0")
    with listener.socket:
        assert listener.is_local
        assert listener.port > 0
        assert listener.url == f"http://127.0.0.1:{listener.port}/"


def test_a_host_decides_who_can_connect() -> None:
    for text, local, url in (
        ("0.0.0.0:0", False, "http://localhost:{}/"),
        ("[::1]:0", True, "http://[::1]:{}/"),
        ("localhost:0", True, None),
    ):
        listener = listen("--dashboard", text)
        with listener.socket:
            assert listener.is_local == local
            assert url is None or listener.url == url.format(listener.port)


INVALID = ["", "x", "-1", "65536", "1.5", "127.0.0.1", "127.0.0.1:", ":80", "::1:80", "a:b:80", "[::1]", "[]:80", "٨٠"]


@pytest.mark.parametrize("text", [*INVALID, "1" * 5000])
def test_invalid_addresses_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"needs \[HOST:\]PORT, as 8080 or 0\.0\.0\.0:8080"):
        listen("--dashboard", text)


def test_a_port_in_use_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"^--metrics {port}: port {port} is in use; give another one$"):
            listen("--metrics", str(port))


def test_a_host_of_another_machine_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"no-such-host\.invalid:80: no-such-host\.invalid is not an address"):
        listen("--dashboard", "no-such-host.invalid:80")
    with pytest.raises(ConfigError, match=re.escape("--dashboard 192.0.2.1:0: can't listen there: Cannot assign")):
        listen("--dashboard", "192.0.2.1:0")
