"""The page in a real browser."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from tests.integration.pages import started
from tests.integration.processes import PATIENCE, finish, kill, streamlin, until
from tests.integration.streams import real_events, write_lines
from tests.integration.test_dashboard import HOSTILE, hostile_stream

expect.set_options(timeout=1000 * PATIENCE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium; in CI its absence is a failure."""
    path = shutil.which("chromium")
    if path is None:
        message = "no chromium on this machine"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


class Visit:
    """A page that is open, with all that the browser complains of and asks for."""

    def __init__(self, browser: Browser, url: str, **how: Any) -> None:
        self.page: Page = browser.new_page(**how)
        self.complaints: list[str] = []
        self.hosts: set[str] = set()
        self.page.on("console", self._told)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))
        self.page.goto(url)

    def state(self, text: str) -> None:
        """Wait until the page says that it is live, or the like."""
        expect(self.page.locator("#state")).to_have_text(text)

    def has_seen(self, events: int) -> None:
        """Wait until the page shows so many events."""
        count = self.page.locator("#counts dd").first
        until(lambda: int((count.text_content() or "0").replace(",", "")) >= events or self.page.wait_for_timeout(100))

    def table(self, selector: str) -> list[list[str]]:
        """The cells of a table, its head among them."""
        rows: list[list[str]] = self.page.locator(f"{selector} tr").evaluate_all(
            "rows => rows.map(row => [...row.children].map(cell => cell.textContent.trim()))"
        )
        return rows

    def wide(self) -> int:
        """How wide the page's contents are, pixels."""
        width: int = self.page.evaluate("document.documentElement.scrollWidth")
        return width

    def _told(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)


@pytest.fixture(scope="module")
def stream(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1,500 real messages."""
    return write_lines(tmp_path_factory.mktemp("page") / "sms.jsonl", real_events(data / "sms-spam.jsonl.gz", 1500))


def percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def test_the_page_ends_with_the_reports_figures(browser: Browser, stream: Path, tmp_path: Path) -> None:
    """Live first; then the counts, every learner's figures, the confusion matrix and the slices are the report's. The
    browser has nothing to complain of, and asked nobody else."""
    report = tmp_path / "report.json"
    process, url = started("run", f"{stream}?rate=500", "--report", report, "--slice-by", "label")
    visit = Visit(browser, url)
    visit.state("live")
    visit.state("the run has ended")
    assert not visit.complaints
    assert visit.hosts == {urlsplit(url).netloc}
    assert finish(process).code == 0
    whole = json.loads(report.read_text())
    counts = visit.page.locator("#counts div").evaluate_all("all => all.map(one => one.innerText.split('\\n'))")
    assert ["events", f"{whole['events']:,}"] in counts
    assert ["labels", "2"] in counts
    head, *rows = visit.table("#learners")
    assert head[:5] == ["learner", "accuracy", "last 1,000", "95 % interval", "fading"]
    predictors = whole["learners"] | whole["baselines"]
    assert [row[0] for row in rows] == list(predictors)
    for row in rows:
        figures = predictors[row[0]]
        low, high = figures["interval"]
        shares = [percent(figures[key]) for key in ("accuracy", "window_accuracy", "fading_accuracy")]
        assert [row[1], row[2], row[4]] == shares
        assert row[3] == f"{100 * low:.2f} – {100 * high:.2f}"
    best = visit.page.locator("#learners tr.best th").text_content()
    assert best is not None
    table = whole["learners"][best.strip()]["confusion"]
    head, *rows = visit.table("#confusion table")
    for row in rows:
        for label, cell in zip(head[1:], row[1:], strict=True):
            assert cell == f"{table[row[0]].get('(abstained)' if label == 'none' else label, 0):,}"
    head, *rows = visit.table("#slices table")
    for row in rows:
        slices = whole["slices"]["label"][row[0]]
        assert row[1:] == [f"{slices['events']:,}", *(percent(slices[name]["accuracy"]) for name in head[2:])]
    label = visit.page.locator("#accuracy-chart").get_attribute("aria-label") or ""
    assert f"over {whole['curve']['labelled'][-1]:,} labelled events" in label
    assert visit.page.locator("#accuracy-chart canvas").count() == 1
    visit.page.close()


def test_after_a_restart_the_page_goes_on(browser: Browser, stream: Path, tmp_path: Path) -> None:
    """Killed, the page says so; the next run at the same port goes on from the checkpoint, and the page with it."""
    arguments = ("run", f"{stream}?rate=100", "--checkpoint", tmp_path / "state", "--set", "checkpoint.every_events=50")
    process, url = started(*arguments)
    visit = Visit(browser, url)
    visit.state("live")
    visit.has_seen(100)
    assert not visit.complaints
    kill(process)
    visit.state("connection lost; trying again")
    process, _ = started(*arguments, port=urlsplit(url).port or 0)
    visit.state("live")
    visit.has_seen(200)
    assert all("ERR_CONNECTION_REFUSED" in text or "ERR_INCOMPLETE" in text for text in visit.complaints)
    process.terminate()
    visit.state("the run has ended")
    assert finish(process).code == 0
    visit.page.close()


def test_what_strangers_write_is_text(browser: Browser, tmp_path: Path) -> None:
    """Neither texts nor labels nor ids become elements or run; each keeps its direction to itself."""
    process, url = started("run", hostile_stream(tmp_path / "in.jsonl"), "--follow", "--slice-by", "label")
    visit = Visit(browser, url)
    items = visit.page.locator("#mistakes li")
    expect(items).to_have_count(len(HOSTILE))
    assert not visit.complaints
    assert visit.page.title() == "streamlin"
    assert visit.page.locator("script").count() == 2
    assert visit.page.locator("img, h1:not(header h1)").count() == 0
    texts = [item.locator("bdi").first for item in items.all()][::-1]
    assert [text.text_content() for text in texts[:3]] == HOSTILE[:3]
    assert texts[5].text_content() == HOSTILE[5]
    assert {text.evaluate("place => getComputedStyle(place).unicodeBidi") for text in texts} == {"isolate"}
    assert visit.wide() <= 1280
    visit.page.set_viewport_size({"width": 390, "height": 844})
    assert visit.wide() <= 390
    process.terminate()
    assert finish(process).code == 0
    visit.page.close()


def test_a_phone_and_the_dark(browser: Browser, stream: Path) -> None:
    """At 390 pixels nothing sticks out, tables scroll in themselves, and charts fit; dark is another ground."""
    process, url = started("run", f"{stream}?rate=200", "--slice-by", "label")
    light = Visit(browser, url, viewport={"width": 390, "height": 844}, color_scheme="light", has_touch=True)
    dark = Visit(browser, url, viewport={"width": 1280, "height": 900}, color_scheme="dark")
    grounds = []
    for visit in (light, dark):
        visit.state("live")
        expect(visit.page.locator("#accuracy-chart canvas")).to_be_visible()
        expect(visit.page.locator("#pace-chart canvas")).to_be_visible()
        grounds.append(visit.page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert not visit.complaints
    assert len(set(grounds)) == 2
    assert light.wide() <= 390
    box = light.page.locator("#accuracy-chart canvas").bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 390
    process.terminate()
    assert finish(process).code == 0
    for visit in (light, dark):
        visit.page.close()


def test_with_the_keyboard_alone(browser: Browser, stream: Path) -> None:
    """Everything that can be chosen is reached by Tab and changed by keys; every part has a name for who listens."""
    process, url = started("run", f"{stream}?rate=200")
    visit = Visit(browser, url)
    visit.state("live")
    expect(visit.page.locator("#accuracy-chart canvas")).to_be_visible()
    expect(visit.page.locator("#confusion")).to_be_visible()
    page = visit.page
    reached = []
    for _ in range(20):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate("document.activeElement.value || document.activeElement.getAttribute('aria-label')")
        )
        if reached[-1] == "window_accuracy":
            page.keyboard.press("ArrowRight")
            assert page.evaluate("document.querySelector('#span input:checked').value") == "accuracy"
        if reached[-1] == "perceptron" and len(reached) < 8:
            page.keyboard.press("Space")
    assert "Accuracy of learners and baselines, as a table" in reached
    assert {"window_accuracy", "naive_bayes", "perceptron", "no_change", "Confusion matrix"} <= set(reached)
    assert not page.locator("#learners input[value=perceptron]").is_checked()
    assert "since the start" in (page.locator("#accuracy-chart").get_attribute("aria-label") or "")
    unnamed = page.locator("section:visible").evaluate_all(
        "all => all.filter(one => !document.getElementById(one.getAttribute('aria-labelledby'))).length"
    )
    assert unnamed == 0
    assert page.locator("#state").get_attribute("role") == "status"
    process.terminate()
    assert finish(process).code == 0
    page.close()


def test_a_report_for_the_browser(browser: Browser, data: Path, tmp_path: Path) -> None:
    """One file with all in it: no server, no other file, the same figures as the JSON beside it; texts stay texts."""
    events = real_events(data / "sms-spam.jsonl.gz", 300)
    for number, text in enumerate(text for text in HOSTILE if "\x1b" not in text):
        kind = f"{text[:60]}</script><script>alert(1)</script>"
        events[20 * number] |= {"text": text, "label": text[:60], "kind": kind}
    stream = write_lines(tmp_path / "in.jsonl", events)
    page, report = tmp_path / "report.html", tmp_path / "report.json"
    streamlin("run", stream, "--report", page, "--report", report, "--slice-by", "kind")
    whole = json.loads(report.read_text())
    visit = Visit(browser, page.as_uri())
    visit.state("report of a run")
    assert not visit.complaints
    assert visit.hosts == {""}
    assert visit.page.locator("script").count() == 3
    assert visit.page.title() == "streamlin"
    rows = {row[0]: row[1:] for row in visit.table("#learners")[1:]}
    for name, figures in (whole["learners"] | whole["baselines"]).items():
        assert rows[name][0] == percent(figures["accuracy"])
        assert rows[name][1] == percent(figures["window_accuracy"])
    values = {row[0] for row in visit.table("#slices table")[1:]}
    assert "<script>document.title = 'taken'</scrip…" in values
    assert visit.page.locator("#accuracy-chart canvas").count() == 1
    assert visit.page.locator("#mistakes").is_hidden()
    assert page.stat().st_size < 300_000
    visit.page.close()


def test_an_explanation_for_the_browser(browser: Browser, tmp_path: Path) -> None:
    """One file; what strangers wrote is text, words are shaded, by day and by night, and a phone is wide enough."""
    texts = [text[:5000] for text in HOSTILE if "\x00" not in text]
    stream = hostile_stream(tmp_path / "in.jsonl")
    streamlin("run", stream, "--checkpoint", tmp_path / "state", "--set", "features.names=1000")
    page = tmp_path / "why.html"
    streamlin("explain", tmp_path / "state", "--html", page, "--learner", "naive_bayes", "--", *texts)
    for scheme in ("light", "dark"):
        visit = Visit(browser, page.as_uri(), color_scheme=scheme, viewport={"width": 400, "height": 800})
        assert not visit.complaints
        assert visit.hosts == {""}
        assert visit.page.title() == "streamlin: why this label?"
        assert visit.wide() <= 400
        shown = visit.page.locator(".text").all_text_contents()
        assert [text.replace("\x07", "\ufffd").replace("\x1b", "\ufffd") for text in texts] == shown
        shades = visit.page.locator(".text span").evaluate_all(
            "all => all.map(one => getComputedStyle(one).backgroundColor)"
        )
        assert shades
        assert not {"", "rgba(0, 0, 0, 0)"} & set(shades)
        background = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 24, 28)"}[scheme]
        visit.page.close()
