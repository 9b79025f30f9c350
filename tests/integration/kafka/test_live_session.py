"""What pages show of Apache Kafka, word by word, at a real broker."""

import gzip

import pytest

from deploy.kafka.broker import Broker
from tests.docs.live import ADDRESS, LIVE, at, is_live
from tests.docs.pages import README, ROOT, Page
from tests.docs.session import follow, session


def test_the_live_session(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """The README's: produce, run, read, kill, run again."""
    with session(monkeypatch) as own:
        headlines = (ROOT / "streamlin/demo/clickbait.jsonl.gz").read_bytes()
        (own.folder / "headlines.jsonl").write_bytes(gzip.decompress(headlines))
        wanted = [b for b in README.blocks if is_live(b) or b.file() == "headlines.toml"]
        blocks = [at(block, broker.address) for block in wanted]
        assert follow(blocks, own, lambda printed: printed.replace(broker.address, ADDRESS)) == 7


@pytest.mark.parametrize("name", [name for name, heading in LIVE.items() if heading is None])
def test_the_pages(name: str, broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the site that are about Kafka."""
    with session(monkeypatch) as own:
        blocks = [at(block, broker.address) for block in Page(name).blocks]
        assert follow(blocks, own, lambda printed: printed.replace(broker.address, ADDRESS)) > 7
