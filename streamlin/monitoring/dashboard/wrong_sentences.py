"""The latest sentences with wrong tags, as the page shows mistakes."""

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
    batch, codes, predictions = learned
    assert batch.pieces is not None
    bounds = batch.pieces
    lead = np.repeat(predictions.lead, np.diff(bounds))
    tags = predictions.tags[lead, np.arange(codes.size)]
    wrong = np.flatnonzero((codes >= 0) & (tags != codes))
    sentences = np.unique(np.searchsorted(bounds, wrong, side="right") - 1)[-most:]
    keys, found = batch.keys(), []
    for i in sentences.tolist():
        begin, end = int(bounds[i]), int(bounds[i + 1])
        own = wrong[(wrong >= begin) & (wrong < end)]
        places, tokens = (own[:_MARKED] - begin).tolist(), None if hide_text else batch.texts[begin:end]
        marked: list[str | WrongToken] = [
            WrongToken(None if tokens is None else shortened(tokens[at]), int(codes[begin + at]), int(tags[begin + at]))
            for at in places
        ]
        parts = marked if tokens is None else _in_context(tokens, dict(zip(places, marked, strict=True)))
        known = int((codes[begin:end] >= 0).sum())
        found.append(
            WrongSentence(keys[i], parts, own.size, known, float(predictions.confidences[predictions.lead[i], i]))
        )
    return found


def _in_context(tokens: list[str], marked: dict[int, str | WrongToken]) -> list[str | WrongToken]:
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
