"""The lag of a run on its dashboard."""

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
    """300 messages in three partitions, learned slowly until the run is ended. A curve shows what waits.

    At the end that is what the report says, in all and by partition, the furthest behind first.
    """
    name, report = topic(3), tmp_path / "report.json"
    events = real_events(data / "sms-spam.jsonl.gz", 300)
    produce(broker.address, name, [(None, json.dumps(event).encode(), (), n % 3) for n, event in enumerate(events)])
    source = url(broker.address, name, "kafka-python", rate=10)
    process, page = started("run", source, *QUICK, "--report", report)
    visit = Visit(browser, page)
    visit.state("live")
    expect(visit.page.locator("#lag-chart canvas")).to_be_visible()
    process.terminate()
    visit.state("the run has ended")
    assert not visit.complaints
    assert finish(process).code == 0
    whole = json.loads(report.read_text())
    lag = whole["lag"]
    assert visit.counts()["lag"] == f"{sum(lag.values())}" == f"{300 - whole['events']}"
    assert whole["events"] < 300
    rows = visit.table("#lag tbody")
    assert {part: int(waiting) for part, waiting in rows} == lag
    assert [int(waiting) for _, waiting in rows] == sorted(lag.values(), reverse=True)
    visit.page.close()
