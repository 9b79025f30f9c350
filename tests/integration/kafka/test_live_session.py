"""The README's live session, word by word, at a real broker."""

import gzip
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from deploy.kafka.broker import Broker
from tests.test_readme import FOLDER, LIVE, ROOT, Block, Session, blocks, comparable

ADDRESS = "127.0.0.1:9092"


@dataclass
class At:
    """A block as it reads with another broker's address."""

    broker: Broker

    def block(self, block: Block) -> Block:
        return block._replace(text=block.text.replace(ADDRESS, self.broker.address))

    def shown(self, printed: str) -> str:
        return printed.replace(self.broker.address, ADDRESS)


def test_the_live_session(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Produce, run, read, kill, run again: what the README shows is what happens."""
    at, followed = At(broker), 0
    with tempfile.TemporaryDirectory(prefix="readme", dir="/tmp") as folder:
        monkeypatch.chdir(folder)
        session = Session(Path(folder))
        headlines = (ROOT / "streamlin/demo/clickbait.jsonl.gz").read_bytes()
        (Path(folder) / "headlines.jsonl").write_bytes(gzip.decompress(headlines))
        for block in blocks():
            if block.heading != LIVE and not block.text.startswith("# headlines.toml"):
                continue
            for what, shown, printed in session.follow(at.block(block)):
                followed += 1
                assert comparable(at.shown(printed), folder) == comparable(at.shown(shown), FOLDER), what
    assert followed == 7
