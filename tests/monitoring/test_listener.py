"""Ports, and whom a request means."""

import re
import socket

import pytest

from streamlin.errors import ConfigError
from streamlin.monitoring.listener import Listener, is_meant, listen


def listening(text: str) -> Listener:
    """A listener that does not listen any more."""
    listener = listen("--dashboard", text)
    listener.socket.close()
    return listener


def test_by_default_this_machine_alone() -> None:
    listener = listen("--dashboard", "0")
    with listener.socket:
        assert listener.is_local
        assert listener.port > 0
        assert listener.url == f"http://127.0.0.1:{listener.port}/"


def test_a_host_may_be_given() -> None:
    for text, local, url in (
        ("0.0.0.0:0", False, "http://localhost:{}/"),
        ("[::1]:0", True, "http://[::1]:{}/"),
        ("localhost:0", True, None),
    ):
        listener = listen("--dashboard", text)
        with listener.socket:
            assert listener.is_local == local
            assert url is None or listener.url == url.format(listener.port)


NO_PORTS = ["", "x", "-1", "65536", "1.5", "127.0.0.1", "127.0.0.1:", ":80", "::1:80", "a:b:80", "[::1]", "[]:80", "٨٠"]


@pytest.mark.parametrize("text", [*NO_PORTS, "1" * 5000])
def test_what_is_no_port(text: str) -> None:
    with pytest.raises(ConfigError, match=r"needs \[HOST:\]PORT, as 8080 or 0\.0\.0\.0:8080"):
        listen("--dashboard", text)


def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"^--metrics {port}: port {port} is in use; give another one$"):
            listen("--metrics", str(port))


def test_a_host_that_is_not_here() -> None:
    with pytest.raises(ConfigError, match=r"--dashboard no-such-host\.invalid:80: no-such-host\.invalid is no "):
        listen("--dashboard", "no-such-host.invalid:80")
    with pytest.raises(ConfigError, match=re.escape("--dashboard 192.0.2.1:0: can't listen there: Cannot assign")):
        listen("--dashboard", "192.0.2.1:0")


def test_on_loopback_only_names_of_this_machine_are_meant() -> None:
    listener = listening("0")
    for host in ("localhost", "LOCALHOST:8000", "127.0.0.1:8000", "127.0.0.1", "[::1]:8000"):
        assert is_meant(host, listener), host
    for name in (None, "", "evil.example", "evil.example:8000", "localhost.evil.example", "10.0.0.1", "[evil]:80"):
        assert not is_meant(name, listener), name


def test_elsewhere_addresses_and_the_machines_own_name_are_meant() -> None:
    listener = listening("0.0.0.0:0")
    for host in ("localhost", "127.0.0.1:8000", "10.0.0.1:8000", "[2001:db8::1]:8000", socket.gethostname()):
        assert is_meant(host, listener), host
    for name in (None, "", "evil.example", "evil.example:8000", "1.2.3.4.evil.example"):
        assert not is_meant(name, listener), name


def test_the_name_that_was_given_is_meant() -> None:
    assert is_meant("stream.example:80", listening("0")._replace(host="stream.example"))
