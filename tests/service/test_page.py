"""The page about the service, word by word, at a port that is free."""

import socket

import pytest

from tests.docs.live import SERVICE
from tests.docs.pages import Page
from tests.docs.session import follow, session

PORT = "8765"


def test_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start, learn, predict, stop: what the page shows is what happens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    with session(monkeypatch) as own:
        blocks = [block._replace(text=block.text.replace(PORT, port)) for block in Page(SERVICE).blocks]
        assert follow(blocks, own, lambda text: text.replace(port, PORT), pause=0.5) == 10
