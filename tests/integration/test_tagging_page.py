"""The page of a run of taggers in a real browser."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.command_line import command_line
from tests.integration.pages import started
from tests.integration.processes import finish
from tests.integration.streams import json_lines, real_events, write_lines
from tests.integration.test_dashboard import HOSTILE
from tests.integration.test_page import percent
from tests.integration.visits import Visit

TAGGING = ("--task", "tagging")
PHONE: Any = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def names(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first 200 real sentences with names in them."""
    return write_lines(
        tmp_path_factory.mktemp("names") / "es.jsonl", real_events(data / "ner-conll2002-es.jsonl.gz", 200)
    )


def marks(item: Locator) -> list[list[str]]:
    """Token, predicted and true tag of each marked token of a mistake."""
    found: list[list[str]] = item.locator("mark").evaluate_all(
        "all => all.map(mark => [...mark.querySelectorAll('bdi')].map(one => one.textContent))"
    )
    return found


def test_page_shows_scores_of_tokens_sentences_spans_and_words(browser: Browser, names: Path, tmp_path: Path) -> None:
    """Live first; then every figure is the report's, and the mistakes are those of the prediction lines, each wrong
    token marked with both its tags; at 390 pixels, too."""
    report, predictions = tmp_path / "report.json", tmp_path / "predictions.jsonl"
    process, url = started(
        *("run", names, "--follow", *TAGGING, "--report", report, "--predictions", predictions),
        *("--slice-by", "split"),
    )
    visit = Visit(browser, url)
    visit.has_seen(200)
    visit.state("live")
    process.terminate()
    visit.state("the run has ended")
    assert finish(process).code == 0
    assert not visit.complaints
    whole = json.loads(report.read_text())
    assert {"events": "200", "labels": f"{len(whole['labels'])}"}.items() <= visit.counts().items()
    predictors = whole["learners"] | whole["baselines"]
    for span in ("", "window_", "fading_"):
        visit.page.locator("#chosen-span select").select_option(span)
        head, *rows = visit.table("#learners")
        assert head[:9] == [
            *("learner", "accuracy", "last 1,000", "95 % interval", "fading"),
            *("F1", "sentences", "known words", "new words"),
        ]
        assert [row[0] for row in rows] == list(predictors)
        for row in rows:
            figures = predictors[row[0]]
            keys = ["accuracy", "window_accuracy"]
            keys += [f"{span}{key}" for key in ("f1", "sentences_right", "known_accuracy", "unknown_accuracy")]
            assert [*row[1:3], *row[5:9]] == [percent(figures[key]) for key in keys]
    assert visit.page.locator("#cells").text_content() == whole["unit"] == "tokens"
    assert "sign test over sentences" in (visit.page.locator("#accuracy").text_content() or "")
    head, row = visit.table("#slices table")
    assert head[:2] == ["value", "tokens"]
    assert row[:2] == ["train", f"{whole['slices']['split']['train']['tokens']:,}"]

    sentences = real_events_by_id(names)
    wrong = [line for line in json_lines(predictions) if line["predicted"] != line["tags"]][:-21:-1]
    items = visit.page.locator("#mistakes li")
    expect(items).to_have_count(20)
    for item, line in zip(items.all(), wrong, strict=True):
        tags = zip(sentences[line["id"]]["tokens"], line["predicted"], line["tags"], strict=True)
        expected = [[token, guess or "nothing", tag] for token, guess, tag in tags if guess != tag]
        assert marks(item) == expected[:12]
        verdict = item.locator(".verdict").text_content() or ""
        assert verdict.startswith(f"{len(expected)} of {len(line['tags'])} tags wrong")
        assert verdict.endswith(line["id"])
    heard = visit.page.locator("#mistakes mark .tags").first.aria_snapshot()
    assert "predicted" in heard
    assert ", is" in heard
    for width in (1280, 390):
        visit.page.set_viewport_size({"width": width, "height": 844})
        assert visit.wide() <= width
    visit.page.close()


def real_events_by_id(path: Path) -> dict[str, Any]:
    return {event["id"]: event for event in json_lines(path)}


def test_foreign_tokens_and_tags_are_shown_as_text(browser: Browser, tmp_path: Path) -> None:
    """None becomes an element or runs; each keeps its direction to itself; hidden ones are not sent."""
    hostile = [text[:300] for text in HOSTILE]
    events = [{"id": text[:60], "tokens": hostile, "tags": [text[:40]] * len(hostile)} for text in hostile]
    stream = write_lines(tmp_path / "in.jsonl", events)
    for hidden in (False, True):
        process, url = started(
            *("run", stream, *TAGGING, "--learner", "hmm", "--follow", *(["--dashboard-hide-text"] if hidden else [])),
        )
        visit = Visit(browser, url, viewport=PHONE)
        items = visit.page.locator("#mistakes li")
        expect(items).to_have_count(len(hostile))
        assert visit.page.title() == "streamlin"
        assert visit.page.locator("script").count() == 2
        assert visit.page.locator("img, h1:not(header h1)").count() == 0
        first = marks(items.last)
        assert [mark[-1] for mark in first] == [hostile[0][:40]] * len(hostile)
        if hidden:
            assert {len(mark) for mark in first} == {2}
        else:
            assert [mark[0] for mark in first][:2] == [
                text if len(text) <= 40 else f"{text[:39]}…" for text in hostile[:2]
            ]
        styles = visit.page.locator("#mistakes bdi").evaluate_all(
            "all => all.map(one => getComputedStyle(one).unicodeBidi)"
        )
        assert set(styles) == {"isolate"}
        assert visit.wide() <= 390
        assert not visit.complaints
        process.terminate()
        assert finish(process).code == 0
        visit.page.close()


def test_html_report_of_taggers_has_the_figures_of_the_json(browser: Browser, names: Path, tmp_path: Path) -> None:
    page, report = tmp_path / "report.html", tmp_path / "report.json"
    command_line(
        "run", names, *TAGGING, "--learner", "hmm", "--report", page, "--report", report, "--slice-by", "split"
    )
    whole = json.loads(report.read_text())
    visit = Visit(browser, page.as_uri())
    visit.state("report of a run")
    assert not visit.complaints
    rows = {row[0]: row[1:] for row in visit.table("#learners")[1:]}
    for name, figures in (whole["learners"] | whole["baselines"]).items():
        assert rows[name][4:6] == [percent(figures["f1"]), percent(figures["sentences_right"])]
    assert visit.table("#slices table")[1][1] == f"{whole['slices']['split']['train']['tokens']:,}"
    assert visit.page.locator("#accuracy-chart canvas").count() == 1
    assert visit.page.locator("#mistakes").is_hidden()
    visit.page.close()
