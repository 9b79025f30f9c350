"""How far a run is behind, on its page."""

import json
from pathlib import Path

from playwright.sync_api import Browser, expect

from deploy.kafka.broker import Broker
from tests.integration.kafka.broker import produce
from tests.integration.kafka.conftest import Topics
from tests.integration.kafka.runs import QUICK, url
from tests.integration.pages import started
from tests.integration.processes import finish
from tests.integration.streams import real_events
from tests.integration.visits import Visit


def test_lag_is_the_reports(broker: Broker, topic: Topics, browser: Browser, data: Path, tmp_path: Path) -> None:
    """Three partitions; all that is there is learned, and nothing waits. Then more than the run is to learn: what waits
    at its end, in all and by partition, the furthest behind first.
    """
    name, report = topic(3), tmp_path / "report.json"
    events = real_events(data / "sms-spam.jsonl.gz", 400)
    messages = [(None, json.dumps(event).encode(), (), n % 3) for n, event in enumerate(events)]
    produce(broker.address, name, messages[:100])
    source = url(broker.address, name, "kafka-python")
    process, page = started("run", source, *QUICK, "--limit", 250, "--report", report)
    visit = Visit(browser, page)
    visit.has_seen(100)
    expect(visit.page.locator("#lag tbody td")).to_have_text(["0", "0", "0"])
    assert visit.counts()["lag"] == "0"
    produce(broker.address, name, messages[100:])
    visit.state("the run has ended")
    assert not visit.complaints
    assert finish(process).code == 0
    lag = json.loads(report.read_text())["lag"]
    assert visit.counts()["lag"] == f"{sum(lag.values())}" == "150"
    rows = visit.table("#lag tbody")
    assert {part: int(events) for part, events in rows} == lag
    assert [int(events) for _, events in rows] == sorted(lag.values(), reverse=True)
    visit.page.close()
