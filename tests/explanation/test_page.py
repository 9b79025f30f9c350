"""Explanations as HTML pages: completeness, safety, shading."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from streamlin.explanation import explain
from streamlin.explanation.page import LONGEST, page
from tests.explanation.models import events_of, taught

STREAM = events_of(("win a prize now", "spam"), ("see you at lunch", "ham")) * 3
HOSTILE = [
    "<script>alert(1)</script> win",
    '"><img src=x onerror=alert(1)> a prize',
    "</div></body></style><style>*{display:none}</style>",
    "</textarea><!-- <![CDATA[ --> &lt;b&gt; &amp win",
    "' onmouseover='alert(1)' win \" style=\"color:red",
    "\u202eprize\u2066 win",
    "win\nprize\ttab\r\n  blanks",
]
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "div", "h2", "span", "hr"),
    *("table", "thead", "tbody", "tfoot", "tr", "th", "td"),
}
CLASSES = {"streamlin-why", "text", "note", "scroll", *(f"{way}{level}" for way in "fa" for level in range(1, 6))}


class Reader(HTMLParser):
    """Parses a page: elements with attributes, texts by class, and shaded words."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.shaded: list[tuple[str, str, str]] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        if attributes.get("class") == "text":
            self.texts.append("")
        if tag not in ("meta", "hr"):
            self._open.append(attributes.get("class") or tag)
        if tag == "span":
            self.shaded.append((attributes["class"], attributes["title"], ""))

    def handle_endtag(self, tag):
        self._open.pop()

    def handle_data(self, data):
        if "text" in self._open:
            self.texts[-1] += data
        if self._open and self._open[-1] in CLASSES - {"text", "note", "scroll", "streamlin-why"}:
            self.shaded[-1] = (*self.shaded[-1][:2], data)


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_in_a_text_is_escaped(text):
    """In its text, label and n-grams; in a page and in a fragment."""
    model = taught([*STREAM, *events_of((text, text), ("win", "spam")) * 3])
    explanation = explain(model, text)
    for html in (explanation.to_html(), explanation._repr_html_()):
        seen = Reader(html)
        assert {tag for tag, _ in seen.elements} <= TAGS
        for _, attributes in seen.elements:
            assert set(attributes) <= {
                "class",
                "title",
                "dir",
                "tabindex",
                "lang",
                "charset",
                "http-equiv",
                "content",
                "name",
            }
            assert attributes.get("class") is None or attributes["class"] in CLASSES
        assert seen.texts == [text.replace("\r", "\N{REPLACEMENT CHARACTER}")] * len(model.names)


@pytest.mark.parametrize("text", ["\x00 \x1b[2J \x7f \x85", "\ud800 half", "\udcff"])
def test_what_html_cannot_hold_is_replaced(text):
    html = explain(taught(STREAM), text).to_html()
    html.encode()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", html)
    assert "\N{REPLACEMENT CHARACTER}" in html


def test_the_page_loads_nothing_and_allows_only_its_styles():
    html = explain(taught(STREAM), "win a prize").to_html()
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    styles = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() for style in styles]
    assert policy == "default-src 'none'; style-src " + " ".join(f"'sha256-{digest}'" for digest in hashes)
    assert not re.search(r"https?://|url\(|@import|<script|<link|style=", html)
    assert "prefers-color-scheme: dark" in html


def test_words_are_shaded_by_their_contribution():
    explanation = explain(taught(STREAM, [{"kind": "perceptron"}]), "Win lunch, unknown")
    [reasons] = explanation.learners.values()
    seen = Reader(explanation.to_html())
    assert seen.texts == ["Win lunch, unknown"]
    other = {"spam": "lunch", "ham": "Win"}[reasons.predicted]
    ways = {word: (kind[0], title[0]) for kind, title, word in seen.shaded}
    assert ways == {"Win": ("f", "+"), "lunch": ("f", "+")} | {other: ("a", "-")}


def test_several_texts_share_one_page():
    model = taught(STREAM)
    seen = Reader(page([explain(model, text, ["sgd"]).section(5) for text in ("win", "", "lunch")]))
    assert seen.texts == ["win", "", "lunch"]
    assert [tag for tag, _ in seen.elements].count("hr") == 2


def test_only_the_beginning_of_a_long_text_is_shown():
    model = taught(STREAM)
    text = "win a lunch " * 90_000
    html = explain(model, text, ["naive_bayes"]).to_html()
    seen = Reader(html)
    assert seen.texts == [text[:LONGEST]]
    assert f"the first {LONGEST:,} of {len(text):,} characters" in html
    assert len(html) < 1_000_000


def test_without_labels_only_the_text_is_shown():
    html = explain(taught([]), "a < b", ["sgd"]).to_html()
    assert Reader(html).texts == ["a < b"]
    assert "no label is known yet" in html
    assert "<table" not in html
