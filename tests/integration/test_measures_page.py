"""What the page shows of events without labels, in a real browser."""

import json
import random
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, expect

from tests.integration.pages import started
from tests.integration.processes import finish
from tests.integration.streams import write_lines
from tests.integration.test_page import percent
from tests.integration.visits import Visit

PHONE: Any = {"width": 390, "height": 844}
ON = ("--set", "evaluation.novelty=true", "--set", "surprise.model=kneser_ney")


def changing(path: Path) -> Path:
    """400 texts of few words, some of them new, then 100 with many new ones; no label."""
    draw, new = random.Random(3), iter(range(10**6))
    shares = [0.1] * 400 + [0.7] * 100
    words = [[f"new{next(new)}" if draw.random() < share else "known" for _ in range(6)] for share in shares]
    return write_lines(path, [{"text": " ".join(own)} for own in words])


def test_page_shows_the_curve_of_new_words_with_its_alarms(browser: Browser, tmp_path: Path) -> None:
    """Live, then at the end; the figures are the report's; on a phone nothing sticks out."""
    stream, report = changing(tmp_path / "texts.jsonl"), tmp_path / "report.json"
    process, url = started("run", stream, *ON, "--learner", "naive_bayes", "--follow", "--report", report)
    visit = Visit(browser, url, viewport=PHONE)
    visit.has_seen(500)
    section = visit.page.locator("#novelty")
    expect(section).to_be_visible()
    expect(visit.page.locator("#novelty-chart svg, #novelty-chart canvas").first).to_be_visible()
    process.terminate()
    visit.state("the run has ended")
    assert finish(process).code == 0
    whole = json.loads(report.read_text())
    assert visit.counts()["perplexity, last events"] == f"{whole['surprise']['window_perplexity']:.1f}"
    told = whole["novelty"]
    assert told["alarms"] == 1
    assert percent(told["share"]) in (section.locator("p").text_content() or "")
    (alarm,) = told["last_alarms"]
    assert 400 < alarm["event"] <= 420
    head, row = visit.table("#novelty table")
    assert head == ["event", "before", "after", "position"]
    assert row[:3] == [f"{alarm['event']:,}", percent(alarm["before"]), f"▲ {percent(alarm['after'])}"]
    said = visit.page.locator("#novelty-chart").get_attribute("aria-label") or ""
    assert said.endswith("Alarms marked: 1.")
    for width in (1280, 390):
        visit.page.set_viewport_size({"width": width, "height": 844})
        assert visit.wide() <= width
    assert not visit.complaints
    visit.page.close()
