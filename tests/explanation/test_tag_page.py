"""Explanations of sentences as tables and as HTML pages: completeness, safety."""

import re
from html.parser import HTMLParser

import pytest

from streamlin.explanation.tag_page import LONGEST
from streamlin.terminal.printing import rendered
from tests.explanation.sentences import STREAM, explained, taught
from tests.explanation.test_page import CLASSES, TAGS
from tests.integration.processes import PATIENCE
from tests.tagging.running import Sentence

NUMBER = re.compile(r"[+-]\d+\.\d{3}")
HOSTILE = [
    "<script>alert(1)</script>",
    "</ruby></details><style>*{}</style>",
    '" onload="x',
    "\u202edog",
    "\x00\x1b[2J",
]


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the words and tags of its sentences."""

    def __init__(self, html):
        super().__init__()
        self.found, self.words, self.summaries = [], [], []
        self._open = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self._open.append(tag)

    def handle_endtag(self, tag):
        while self._open.pop() != tag:  # meta and hr have no end
            pass

    def handle_data(self, data):
        if self._open and self._open[-1] in ("ruby", "rt"):
            self.words.append(data)
        if self._open and self._open[-1] == "summary":
            self.summaries.append(data)


def lines_of(explanation, top=10):
    return rendered(explanation.table(top), None).splitlines()


def test_columns_of_a_tokens_table_sum_to_the_score():
    """For each tag; the mean over tags is subtracted from each row."""
    lines = lines_of(explained(taught(STREAM, "crf"), ["the", "dog", "walks"]), top=3)
    assert re.fullmatch(r"crf: DET NOUN VERB, confidence 0\.\d+", lines[0])
    assert re.fullmatch(r"the: DET, \d+\.\d{3} above NOUN", lines[2])
    assert lines[3].split() == ["feature", "DET", "NOUN", "VERB", "PUNCT"]
    numbers = [[float(number) for number in NUMBER.findall(line)] for line in lines[4:11]]
    assert [line.split("  ")[0] for line in lines[7:11]] == ["18 more", "tag-1=<start>", "tag+1=NOUN", "score"]
    for column in zip(*numbers, strict=True):
        assert abs(sum(column[:-1]) - column[-1]) < 0.005
    assert lines[11].startswith("Not known: 1 of 22 features: w|w+1=the|dog")


def test_every_tagger_and_token_has_a_table_also_as_text():
    explanation = explained(taught(STREAM), ["the", "dog"])
    lines = lines_of(explanation)
    assert [line.partition(":")[0] for line in lines if re.match(r"\w+: DET NOUN", line)] == list(explanation.learners)
    assert sum(line.startswith("feature") for line in lines) == 2 * len(explanation.learners)
    assert str(explanation).splitlines() == lines


@pytest.mark.parametrize("odd", HOSTILE)
def test_markup_in_tokens_and_tags_is_escaped(odd):
    """In a page, in a fragment; and control characters reach no terminal."""
    model = taught([*STREAM, *[Sentence([odd, "x"], [odd, "X"])] * 3])
    explanation = explained(model, [odd, "dog", odd])
    for html in (explanation.to_html(), explanation._repr_html_()):
        seen = Elements(html)
        assert {tag for tag, _ in seen.found} <= TAGS | {"ruby", "rt", "details", "summary"}
        for _, attributes in seen.found:
            assert not set(attributes) & {"onload", "style", "src", "href"}
            assert attributes.get("class") is None or attributes["class"] in CLASSES
        assert len(seen.words) == 3 * 2 * len(model.names)
    assert all(character.isprintable() for character in str(explanation).replace("\n", ""))


def test_a_page_shows_each_token_with_its_tag():
    explanation = explained(taught(STREAM, "hmm"), ["the", "dog"])
    html = explanation.to_html(3)
    seen = Elements(html)
    assert seen.words == ["the", "DET", "dog", "NOUN"]
    assert [summary.split(",")[0] for summary in seen.summaries] == ["the: DET", "dog: NOUN"]
    assert not re.search(r"https?://|url\(|@import|<script|<link|style=", html)


def test_only_the_first_tokens_of_a_long_sentence_are_shown():
    html = explained(taught(STREAM, "crf"), ["dog"] * (LONGEST + 5)).to_html()
    assert len(Elements(html).summaries) == LONGEST
    assert f"the first {LONGEST:,} of {LONGEST + 5:,} tokens" in html


def test_without_tags_only_the_tokens_are_shown():
    html = explained(taught([], "crf"), ["a", "b"]).to_html()
    assert Elements(html).words == ["a", "b"]
    assert "no tag is known yet" in html
    assert "<table" not in html


def test_a_token_opens_its_table_in_a_browser(browser, tmp_path):
    """Without a script, and with the styles that the page's own policy allows."""
    (tmp_path / "why.html").write_text(explained(taught(STREAM, "crf"), ["the", "dog"]).to_html(), encoding="utf-8")
    page, complaints = browser.new_page(), []
    page.set_default_timeout(1000 * PATIENCE)
    page.on("console", lambda message: complaints.append(message.text))
    page.goto((tmp_path / "why.html").as_uri())
    assert not page.locator("table").nth(1).is_visible()
    page.locator("summary").nth(1).click()
    assert page.locator("table").nth(1).is_visible()
    assert page.locator("summary").nth(1).evaluate("element => getComputedStyle(element).cursor") == "pointer"
    assert complaints == []
    page.close()
