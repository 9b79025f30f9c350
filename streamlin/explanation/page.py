"""Explanations as HTML. Their texts are untrusted: all are escaped, and the page's policy allows no scripts."""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from streamlin.explanation.printable import printable
from streamlin.explanation.reasons import Reasons
from streamlin.explanation.shading import shades
from streamlin.explanation.table_rows import TableRows, signed, table_rows

LONGEST = 20_000
"""The maximum number of characters of a text that are shown."""
_NO_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def page(sections: Sequence[str]) -> str:
    """A complete page, one section for each explanation; light or dark as the browser prefers."""
    styles = [_style("whole-page.css"), _style("page.css")]
    digests = [base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() for style in styles]
    hashes = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src {hashes}">\n'
        '<meta name="viewport" content="width=device-width">\n<title>streamlin: why this label?</title>\n'
        f"{''.join(f'<style>{style}</style>' for style in styles)}\n</head>\n<body>\n"
        f"{_body(sections)}\n</body>\n</html>\n"
    )


def fragment(sections: Sequence[str]) -> str:
    """The explanations as a fragment for an existing page, such as a notebook."""
    return f"<style>{_style('page.css')}</style>\n{_body(sections)}"


def section(text: str, learners: Mapping[str, Reasons], top: int) -> str:
    """A text, with the reasons for its prediction by learner."""
    return "\n".join(_learner(text, reasons, top) for reasons in learners.values())


def _body(sections: Sequence[str]) -> str:
    return '<div class="streamlin-why">\n' + "\n<hr>\n".join(sections) + "\n</div>"


def _learner(text: str, reasons: Reasons, top: int) -> str:
    rows = table_rows(reasons, top)
    return f"<h2>{escaped(rows.title)}</h2>\n{_text(text, reasons)}\n{table(rows)}"


def _text(text: str, reasons: Reasons) -> str:
    """The text, shaded."""
    pieces, end = [], 0
    for shade in shades(reasons, LONGEST):
        if shade.level:
            kind = f"f{shade.level}" if shade.level > 0 else f"a{-shade.level}"
            pieces.append(escaped(text[end : shade.begin]))
            end = min(shade.end, LONGEST)
            word = escaped(text[shade.begin : end])
            pieces.append(f'<span class="{kind}" title="{signed(shade.weight)}">{word}</span>')
    pieces.append(escaped(text[end:LONGEST]))
    return f'<div class="text" dir="auto">{"".join(pieces)}</div>\n{_note(text, reasons)}'


def _note(text: str, reasons: Reasons) -> str:
    sentences = []
    if reasons.predicted is not None:
        sentences.append(f"Blue speaks for {printable(reasons.predicted, 60)}, orange against it.")
    if len(text) > LONGEST:
        sentences.append(f"These are the first {LONGEST:,} of {len(text):,} characters.")
    return f'<div class="note">{escaped(" ".join(sentences))}</div>' if sentences else ""


def table(rows: TableRows) -> str:
    """The table of one learner's reasons, and what is remarked on it."""
    if not rows.labels:
        return ""
    head = "".join(f"<th>{escaped(title)}</th>" for title in (rows.head, *rows.labels))
    reasons, rest = ("".join(map(_row, part)) for part in (rows.reasons, rows.rest))
    whole = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>{reasons}</tbody>\n<tfoot>{rest}</tfoot>\n</table>"
    whole = f'<div class="scroll" tabindex="0">{whole}</div>'
    return f'{whole}\n<div class="note">{escaped(rows.remark)}</div>' if rows.remark else whole


def _row(row: tuple[str, NDArray[np.float64]]) -> str:
    name, numbers = row
    return "<tr>" + "".join(f"<td>{escaped(cell)}</td>" for cell in (name, *map(signed, numbers))) + "</tr>"


def escaped(text: str) -> str:
    """The text escaped; characters that HTML does not allow are replaced."""
    return escape(_NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", text))


@cache
def _style(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
