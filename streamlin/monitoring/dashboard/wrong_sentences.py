"""The latest sentences with wrong tags, as the page shows mistakes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from streamlin.monitoring.dashboard.texts import LONG, shortened

if TYPE_CHECKING:
    from streamlin.tagging.model import LearnedSentences

_MARKED, _AROUND = 12, 8
"""Wrong tokens of a sentence that are marked, the first ones; and right tokens that are shown beside each."""
_GAP = "…"


class WrongToken(NamedTuple):
    """A token, None if it is hidden; its true and its predicted tag, as codes."""

    token: str | None
    tag: int
    predicted: int


class WrongSentence(NamedTuple):
    """A sentence of which tags are wrong.

    parts : what is shown of it, in order: its wrong tokens, and the right ones between them, joined by blanks.
    wrong, known : how many tags are wrong, and known. confidence : of all its tags; NaN for none.
    """

    name: str
    parts: list[str | WrongToken]
    wrong: int
    known: int
    confidence: float

    def shown(self, names: list[str]) -> dict[str, Any]:
        """JSON-able; `names` are the tags by code."""
        return {
            "event": shortened(self.name, LONG),
            "parts": [part if isinstance(part, str) else _shown(part, names) for part in self.parts],
            "wrong": self.wrong,
            "known": self.known,
            "confidence": None if np.isnan(self.confidence) else round(self.confidence, 3),
        }


def wrong_sentences(learned: "LearnedSentences", most: int, hide_text: bool) -> list[WrongSentence]:
    """The last sentences of a batch of which the leading tagger got a tag wrong, in order; at most so many.

    hide_text : keep no tokens.
    """
    codes, predictions, bounds = learned.codes, learned.predictions, learned.bounds
    lead = np.repeat(predictions.lead, np.diff(bounds))
    tags = predictions.tags[lead, np.arange(codes.size)]
    wrong = np.flatnonzero((codes >= 0) & (tags != codes))
    found = []
    for row in np.unique(np.searchsorted(bounds, wrong, side="right") - 1)[-most:].tolist():
        begin, end = int(bounds[row]), int(bounds[row + 1])
        own = wrong[(wrong >= begin) & (wrong < end)]
        name, whole = _sentence(learned, row)
        places, tokens = (own[:_MARKED] - begin).tolist(), None if hide_text else whole
        marked: list[str | WrongToken] = [
            WrongToken(None if tokens is None else shortened(tokens[at]), int(codes[begin + at]), int(tags[begin + at]))
            for at in places
        ]
        parts = marked if tokens is None else _in_context(tokens, dict(zip(places, marked, strict=True)))
        known = int((codes[begin:end] >= 0).sum())
        confidence = float(predictions.confidences[predictions.lead[row], row])
        found.append(WrongSentence(name, parts, own.size, known, confidence))
    return found


def _sentence(learned: "LearnedSentences", row: int) -> tuple[str, Sequence[str]]:
    """The id, or the position, and the tokens of a row."""
    batch, i = learned.text(row)
    assert batch.pieces is not None
    name = batch.ids[i]
    begin, end = batch.pieces[i : i + 2].tolist()
    return learned.rows.place(row) if name is None else name, batch.texts[begin:end]


def _in_context(tokens: Sequence[str], marked: dict[int, str | WrongToken]) -> list[str | WrongToken]:
    """The marked tokens with those around them; a gap stands for others."""
    parts: list[str | WrongToken] = []
    right: list[str] = []
    last = -1
    for at in sorted({near for place in marked for near in range(place - _AROUND, place + _AROUND + 1)}):
        if not 0 <= at < len(tokens):
            continue
        if at > last + 1:
            right.append(_GAP)
        last = at
        if at not in marked:
            right.append(shortened(tokens[at]))
            continue
        parts += [*([" ".join(right)] if right else []), marked[at]]
        right = []
    right += [_GAP] if last < len(tokens) - 1 else []
    return [*parts, " ".join(right)] if right else parts


def _shown(wrong: WrongToken, names: list[str]) -> dict[str, Any]:
    predicted = None if wrong.predicted < 0 else shortened(names[wrong.predicted])
    return {"token": wrong.token, "predicted": predicted, "label": shortened(names[wrong.tag])}
