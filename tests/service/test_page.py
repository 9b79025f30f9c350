"""The documentation of the service, run word by word at a free port."""

import socket

import pytest

from tests.docs.live import SERVICE
from tests.docs.pages import Page
from tests.docs.session import follow, session

PORT = "8765"


def test_the_documented_session_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start, learn, predict, stop."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    with session(monkeypatch) as own:
        blocks = [block._replace(text=block.text.replace(PORT, port)) for block in Page(SERVICE).blocks]
        assert follow(blocks, own, lambda text: text.replace(port, PORT), pause=0.5) == 16
