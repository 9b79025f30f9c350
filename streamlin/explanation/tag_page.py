"""Explanations of sentences as HTML: the tokens with their tags, and a table for each token."""

from collections.abc import Mapping

from streamlin.explanation.page import escaped, table
from streamlin.explanation.printable import printable
from streamlin.explanation.tag_reasons import TagReasons
from streamlin.explanation.tag_rows import tagger_title, token_rows

LONGEST = 200
"""The maximum number of tokens of a sentence that are shown."""


def section(learners: Mapping[str, TagReasons], top: int) -> str:
    """A sentence, with the reasons for its tags by tagger."""
    return "\n".join(_tagger(reasons, top) for reasons in learners.values())


def _tagger(reasons: TagReasons, top: int) -> str:
    shown = min(len(reasons.tokens), LONGEST)
    details = "\n".join(_token(reasons, t, top) for t in range(shown if reasons.parts else 0))
    return f"<h2>{escaped(tagger_title(reasons))}</h2>\n{_sentence(reasons, shown)}\n{_note(reasons, shown)}{details}"


def _sentence(reasons: TagReasons, shown: int) -> str:
    """The tokens, each with its tag above."""
    pairs = zip(reasons.tokens[:shown], reasons.predicted, strict=False)
    words = (
        f"<ruby>{escaped(printable(token, 60))}<rt>{escaped(printable(tag or '', 24))}</rt></ruby>"
        for token, tag in pairs
    )
    return f'<div class="text" dir="auto">{" ".join(words)}</div>'


def _note(reasons: TagReasons, shown: int) -> str:
    if shown == len(reasons.tokens):
        return ""
    return f'<div class="note">These are the first {shown:,} of {len(reasons.tokens):,} tokens.</div>\n'


def _token(reasons: TagReasons, t: int, top: int) -> str:
    rows = token_rows(reasons.token(t), top)
    return f"<details><summary>{escaped(rows.title)}</summary>\n{table(rows)}</details>"
