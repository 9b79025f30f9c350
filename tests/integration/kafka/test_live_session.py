"""The examples with Apache Kafka in the documentation, run with a real broker."""

import pytest

from deploy.kafka.broker import Broker
from tests.docs.live import ADDRESS, LIVE, at, is_live
from tests.docs.pages import README, Page
from tests.docs.session import follow, session


def test_the_live_session(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """The README's: produce, then run from topic to topic; the tutorial's is killed and started again."""
    with session(monkeypatch) as own:
        blocks = [at(block, broker.address) for block in README.blocks if is_live(block)]
        assert follow(blocks, own, lambda printed: printed.replace(broker.address, ADDRESS)) == 2


@pytest.mark.parametrize("name", [name for name, heading in LIVE.items() if heading is None])
def test_the_pages(name: str, broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the site that are about Kafka."""
    with session(monkeypatch) as own:
        blocks = [at(block, broker.address) for block in Page(name).blocks]
        assert follow(blocks, own, lambda printed: printed.replace(broker.address, ADDRESS)) > 7
