"""The page in a real browser."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from streamlin import Pipeline
from streamlin.monitoring.html_report import html_report
from tests.command_line import command_line
from tests.evaluation.toy_metrics import WITH_TOYS, BalancedAccuracy
from tests.integration.pages import started
from tests.integration.processes import finish, kill
from tests.integration.streams import real_events, write_lines
from tests.integration.test_dashboard import HOSTILE, hostile_stream
from tests.integration.visits import Visit


@pytest.fixture(scope="module")
def stream(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1,500 real messages."""
    return write_lines(tmp_path_factory.mktemp("page") / "sms.jsonl", real_events(data / "sms-spam.jsonl.gz", 1500))


def percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def test_page_ends_with_the_values_of_the_report(browser: Browser, stream: Path, tmp_path: Path) -> None:
    """Live first; then the counts, every learner's figures, the confusion matrix and the slices are the report's. The
    browser has nothing to complain of, and asked nobody else."""
    report = tmp_path / "report.json"
    process, url = started("run", stream, "--follow", "--report", report, "--slice-by", "label")
    visit = Visit(browser, url)
    visit.state("live")
    visit.has_seen(1500)
    process.terminate()
    visit.state("the run has ended")
    assert not visit.complaints
    assert visit.hosts == {urlsplit(url).netloc}
    assert finish(process).code == 0
    whole = json.loads(report.read_text())
    assert {"events": f"{whole['events']:,}", "labels": "2"}.items() <= visit.counts().items()
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
    best = (visit.page.locator("#learners tr.best th").text_content() or "").strip()
    for span in ("", "window_", "fading_"):
        visit.page.locator("#chosen-span select").select_option(span)
        head, *rows = visit.table("#learners")
        assert head[5:9] == ["kappa", "macro F1", "log loss", "ECE"]
        for row in rows:
            keys = [f"{span}{key}" for key in ("kappa", "macro_f1", "log_loss", "ece")]
            figures = predictors[row[0]]
            assert row[5:9] == [f"{round(figures[key], 3) + 0.0:.3f}" if key in figures else "" for key in keys]
    for span in ("", "window_"):
        visit.page.locator("#when").select_option(span)
        table = whole["learners"][best][f"{span}confusion"]
        head, *rows = visit.table("#confusion table")
        for row in rows:
            for label, cell in zip(head[1:], row[1:], strict=True):
                assert cell == f"{table[row[0]].get('(abstained)' if label == 'none' else label, 0):,}"
        for label, *cells in visit.table("#shares table")[1:]:
            own = whole["learners"][best]["by_label"][label]
            assert cells[3:] == [f"{own[span + key]:.3f}" for key in ("precision", "recall", "f1")]
    head, *rows = visit.table("#slices table")
    for row in rows:
        slices = whole["slices"]["label"][row[0]]
        assert row[1:] == [f"{slices['events']:,}", *(percent(slices[name]["accuracy"]) for name in head[2:])]
    label = visit.page.locator("#accuracy-chart").get_attribute("aria-label") or ""
    assert f"over {whole['curve']['labelled'][-1]:,} labelled events" in label
    assert visit.page.locator("#accuracy-chart canvas").count() == 1
    visit.page.close()


def test_page_reconnects_after_a_restart(browser: Browser, stream: Path, tmp_path: Path) -> None:
    """Killed, the page says so; the next run at the same port goes on from the checkpoint, and the page with it."""
    lines, growing = stream.read_text().splitlines(keepends=True), tmp_path / "growing.jsonl"
    growing.write_text("".join(lines[:100]))
    arguments = ("run", growing, "--follow", "--checkpoint", tmp_path / "state", "--set", "checkpoint.every_events=50")
    process, url = started(*arguments)
    visit = Visit(browser, url)
    visit.state("live")
    visit.has_seen(100)
    assert not visit.complaints
    kill(process)
    visit.state("connection lost; trying again")
    process, _ = started(*arguments, port=urlsplit(url).port or 0)
    visit.state("live")
    with growing.open("a") as file:
        file.writelines(lines[100:200])
    visit.has_seen(200)
    assert all("ERR_CONNECTION_REFUSED" in text or "ERR_INCOMPLETE" in text for text in visit.complaints)
    process.terminate()
    visit.state("the run has ended")
    assert finish(process).code == 0
    visit.page.close()


def test_foreign_texts_are_shown_as_text(browser: Browser, tmp_path: Path) -> None:
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


def test_page_fits_a_phone_and_has_a_dark_mode(browser: Browser, stream: Path) -> None:
    """At 390 pixels nothing sticks out, tables scroll in themselves, and charts fit; dark is another ground."""
    process, url = started("run", stream, "--follow", "--slice-by", "label")
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


def test_page_can_be_used_with_the_keyboard_alone(browser: Browser, stream: Path) -> None:
    """Everything that can be chosen is reached by Tab and changed by keys; every part has a name for who listens."""
    process, url = started("run", stream, "--follow")
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


def test_html_report_shows_the_values_of_the_json_report(browser: Browser, data: Path, tmp_path: Path) -> None:
    """One file with all in it: no server, no other file, the same figures as the JSON beside it; texts stay texts."""
    events = real_events(data / "sms-spam.jsonl.gz", 300)
    for number, text in enumerate(text for text in HOSTILE if "\x1b" not in text):
        kind = f"{text[:60]}</script><script>alert(1)</script>"
        events[20 * number] |= {"text": text, "label": text[:60], "kind": kind}
    stream = write_lines(tmp_path / "in.jsonl", events)
    page, report = tmp_path / "report.html", tmp_path / "report.json"
    command_line("run", stream, "--report", page, "--report", report, "--slice-by", "kind")
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


def test_a_new_metric_needs_no_change_of_the_page(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two metrics that are but registered have their columns, where and as they declare, over the chosen span."""
    monkeypatch.setattr("streamlin.evaluation.metrics.METRICS", WITH_TOYS)
    with Pipeline() as pipeline:
        for i in range(300):
            pipeline.learn_one(f"word {i % 7} {i % 5}", "abc"[i % 3 % 2])
        report = pipeline.metrics
    page = tmp_path / "report.html"
    page.write_text(html_report(report, 1000, "made up"), encoding="utf-8")
    visit = Visit(browser, page.as_uri())
    visit.state("report of a run")
    predictors = report["learners"] | report["baselines"]
    for span in ("", "window_", "fading_"):
        visit.page.locator("#chosen-span select").select_option(span)
        head, *rows = visit.table("#learners")
        assert (head[2], head[8]) == ("streak", "balanced")
        for row in rows:
            own = predictors[row[0]]
            assert (row[2], row[8]) == (f"{own['longest_streak']}", percent(own[f"{span}balanced_accuracy"]))
    assert visit.page.locator("#chosen-metrics").text_content() == "kappa, macro F1, balanced, log loss and ECE"
    assert visit.page.locator("#learners thead th").nth(8).get_attribute("title") == BalancedAccuracy.meaning
    assert not visit.complaints
    for width in (1280, 390):
        visit.page.set_viewport_size({"width": width, "height": 844})
        assert visit.wide() <= width
    visit.page.close()


def test_page_shows_delayed_labels(browser: Browser, data: Path, tmp_path: Path) -> None:
    """Of 800 texts, one a second, 750 get their label 50 texts later, 20 get it twice, 10 another one besides; 5 labels
    are of no text. What the page says of them is what the report says, and what waits is among the counts.
    """
    events = real_events(data / "sms-spam.jsonl.gz", 800)
    texts = [{"id": one["id"], "text": one["text"], "time": n} for n, one in enumerate(events)]
    labels = [{"id": one["id"], "label": one["label"], "time": n + 50} for n, one in enumerate(events[:750])]
    lines = texts[:50] + [line for pair in zip(texts[50:], labels, strict=True) for line in pair] + labels[30:50]
    lines += [one | {"label": "ham" if one["label"] == "spam" else "spam"} for one in labels[:10]]
    lines += [{"id": f"nobody {n}", "label": "ham"} for n in range(5)]
    report = tmp_path / "report.json"
    stream = write_lines(tmp_path / "in.jsonl", lines)
    process, url = started("run", stream, "--follow", "--late-labels", "--report", report)
    visit = Visit(browser, url)
    visit.state("live")
    visit.has_seen(800)
    process.terminate()
    visit.state("the run has ended")
    assert not visit.complaints
    assert finish(process).code == 0
    late = json.loads(report.read_text())["delayed_labels"]
    assert visit.counts()["waiting for a label"] == f"{late['waiting']}" == "50"
    assert dict(visit.table("#delayed-labels tbody")) == {
        "texts waiting for a label": "50",
        "texts whose label came later": "750",
        "delay in texts, median": f"{late['delay_events']['median']}",
        "delay in texts, 95 %": f"{late['delay_events']['p95']}",
        "delay in seconds, median": f"{late['delay_seconds']['median']:.3g}",
        "delay in seconds, 95 %": f"{late['delay_seconds']['p95']:.3g}",
        "labels waiting for their text": "5",
        "repeated labels": "20",
        "contradicting labels": "10",
    }
    assert visit.wide() <= 1280
    visit.page.set_viewport_size({"width": 390, "height": 844})
    assert visit.wide() <= 390
    visit.page.close()


def test_page_shows_tags_that_come_later(browser: Browser, tmp_path: Path) -> None:
    """Mistakes are those of the predictions made when the sentences came; tags that did not fit are counted."""
    lines: list[dict[str, Any]] = [{"id": "0", "tokens": ["a", "b"], "tags": ["A", "B"]}]
    lines += [{"id": "1", "tokens": ["a", "c"]}, {"id": "2", "tokens": ["a", "d"]}, {"id": "1", "tags": ["A"]}]
    lines += [{"id": "1", "tags": ["A", "C"]}]
    process, url = started(
        *("run", write_lines(tmp_path / "in.jsonl", lines), "--follow", "--late-labels"),
        *("--task", "tagging", "--learner", "hmm"),
    )
    visit = Visit(browser, url)
    items = visit.page.locator("#mistakes li")
    expect(items).to_have_count(2)
    assert not visit.complaints
    assert visit.counts()["waiting for a label"] == "1"
    late = dict(visit.table("#delayed-labels tbody"))
    assert (late["texts waiting for a label"], late["texts whose label came later"]) == ("1", "1")
    assert late["tags of another length than their sentence"] == "1"
    assert all(part in items.first.inner_text() for part in ("a", "c", "C"))
    process.terminate()
    assert finish(process).code == 0
    visit.page.close()


def test_html_explanation_is_safe_and_fits_a_phone(browser: Browser, tmp_path: Path) -> None:
    """One file; what strangers wrote is text, words are shaded, by day and by night, and a phone is wide enough."""
    texts = [text[:5000] for text in HOSTILE if "\x00" not in text]
    stream = hostile_stream(tmp_path / "in.jsonl")
    command_line("run", stream, "--checkpoint", tmp_path / "state", "--set", "features.names=1000")
    page = tmp_path / "why.html"
    command_line("explain", tmp_path / "state", "--html", page, "--learner", "naive_bayes", "--", *texts)
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
