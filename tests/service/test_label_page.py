"""The page on which labels are given, in a real browser, with the keyboard alone."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.integration.processes import until
from tests.integration.visits import Visit
from tests.service.served import Served, served

ASKS = ("--late-labels", "--set", "ask.budget=1", "--learner", "naive_bayes")
WORDS = {"ham": "lunch at noon", "spam": "win a prize"}
HOSTILE = '<img src=x onerror=alert(1)> \u202etxet "quoted"'
SIZES = [(1280, 800), (390, 844)]


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[Served]:
    """A service that knows two labels and asks for those of 30 texts."""
    with served(tmp_path / "state", *ASKS) as running:
        running.post("/learn", [{"text": text, "label": label} for label, text in WORDS.items()])
        texts = [{"id": f"t{i}", "text": f"{list(WORDS.values())[i % 2]} {i}"} for i in range(30)]
        texts[0]["text"] = HOSTILE
        running.post("/predict?await_label=true", texts)
        running.learned(32)
        yield running


def label_page(browser: Browser, service: Served, width: int = 1280, height: int = 800) -> Visit:
    visit = Visit(browser, f"{service.url}label", viewport={"width": width, "height": height})
    expect(visit.page.locator("#event-title")).to_have_text("t0")
    return visit


def labels(service: Served) -> dict[str, str]:
    """The answers that were accepted so far, by id."""
    return {line["id"]: line["label"] for line in service.lines if "label" in line and "text" not in line}


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_one_key_gives_a_label(browser: Browser, asking: Served, width: int, height: int) -> None:
    """30 texts are labelled without a mouse, each with one key; the page fits, and the browser does not complain."""
    visit = label_page(browser, asking, width, height)
    keyboard, title = visit.page.keyboard, visit.page.locator("#event-title")
    expect(visit.page.locator("#labels kbd")).to_have_text(["1", "2"])
    expect(visit.page.locator("#labels bdi")).to_have_text(["ham", "spam"])
    assert visit.page.locator("#text").text_content().strip() == HOSTILE
    assert visit.wide() == width
    for i in range(30):
        expect(title).to_have_text(f"t{i}")
        keyboard.press("12"[i % 2])
    expect(visit.page.locator("#nothing")).to_be_visible()
    until(lambda: len(labels(asking)) == 30 or visit.page.wait_for_timeout(100))  # the last answer waits a little
    assert labels(asking) == {f"t{i}": ["ham", "spam"][i % 2] for i in range(30)}
    asking.learned(32)
    assert asking.ask("GET", "/labels-wanted").value["wanted"] == 0
    assert not visit.complaints
    assert visit.hosts == {urlsplit(asking.url).netloc}
    assert visit.wide() == width


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_other_keys_predict_skip_take_back_and_name(browser: Browser, asking: Served, width: int, height: int) -> None:
    visit = label_page(browser, asking, width, height)
    keyboard, title = visit.page.keyboard, visit.page.locator("#event-title")
    predicted = asking.ask("GET", "/labels-wanted").value["events"][0]["predicted"]
    expect(visit.page.locator("#labels .predicted bdi")).to_have_text(predicted)
    keyboard.press("Enter")
    expect(title).to_have_text("t1")
    keyboard.press("1")
    expect(title).to_have_text("t2")
    keyboard.press("Backspace")
    expect(title).to_have_text("t1")
    keyboard.press("2")
    expect(title).to_have_text("t2")
    keyboard.press("Space")
    expect(title).to_have_text("t3")
    keyboard.press("n")
    keyboard.type("other 1")
    keyboard.press("Enter")
    expect(title).to_have_text("t4")
    keyboard.press("x")  # no label has this key
    keyboard.press("Control+1")
    expect(title).to_have_text("t4")
    keyboard.press("1")
    until(lambda: len(labels(asking)) == 4 or visit.page.wait_for_timeout(100))
    assert labels(asking) == {"t0": predicted, "t1": "spam", "t3": "other 1", "t4": "ham"}
    expect(visit.page.locator("#labels bdi")).to_have_text(["ham", "spam"])
    for _ in range(30):
        if visit.page.locator("#labels bdi").count() == 3:
            break
        keyboard.press("1")
        visit.page.wait_for_timeout(100)
    expect(visit.page.locator("#labels kbd")).to_have_text(["1", "2", "3"])
    assert not visit.complaints


def test_the_buttons_can_be_reached_by_tab(browser: Browser, asking: Served) -> None:
    visit = label_page(browser, asking)
    visit.page.keyboard.press("Tab")
    visit.page.keyboard.press("Tab")
    visit.page.keyboard.press("Enter")
    expect(visit.page.locator("#event-title")).to_have_text("t1")
    expect(visit.page.locator("#last bdi")).to_have_text("spam")
    assert visit.page.evaluate("document.activeElement.textContent") == "2spam"


def test_a_token_is_asked_for_and_texts_can_be_hidden(browser: Browser, tmp_path: Path) -> None:
    """The page itself needs no token; without one it shows nothing of the stream."""
    access = {"Authorization": "Bearer secret-word"}
    with served(
        tmp_path / "state", *ASKS, "--set", "ask.hide_text=true", env={"STREAMLIN_SERVE__TOKEN": "secret-word"}
    ) as service:
        service.post("/predict?await_label=true", {"id": "a", "text": "hidden words"}, access)
        assert service.ask("GET", "/labels-wanted").status == 401
        visit = Visit(browser, f"{service.url}label")
        expect(visit.page.locator("#problem")).to_have_text("can't look for questions: the token is missing or wrong")
        expect(visit.page.locator("#event")).to_be_hidden()
        visit.page.locator("#token").focus()
        visit.page.keyboard.type("secret-word")
        visit.page.keyboard.press("Enter")
        expect(visit.page.locator("#text")).to_have_text("(the text is hidden)")
        expect(visit.page.locator("#access")).to_be_hidden()
        visit.page.keyboard.press("n")
        visit.page.keyboard.type("first")
        visit.page.keyboard.press("Enter")
        until(lambda: labels(service) == {"a": "first"} or visit.page.wait_for_timeout(100))
        assert "hidden words" not in visit.page.content()


def test_an_answer_that_is_not_accepted_comes_back(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path / "state", *ASKS, "--set", "pipeline.max_labels=1") as service:
        service.post("/learn", {"text": "a", "label": "only"})
        service.post("/predict?await_label=true", {"id": "a", "text": "b"})
        service.learned(2)
        visit = Visit(browser, f"{service.url}label")
        expect(visit.page.locator("#event-title")).to_have_text("a")
        visit.page.keyboard.press("n")
        visit.page.keyboard.type("second")
        visit.page.keyboard.press("Enter")
        expect(visit.page.locator("#problem")).to_have_text(
            "“second” was not accepted: label 'second' exceeds pipeline.max_labels = 1 different labels"
        )
        expect(visit.page.locator("#event-title")).to_have_text("a")
