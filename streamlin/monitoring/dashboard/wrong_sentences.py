"""The latest sentences with wrong tags, as the page shows mistakes."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from streamlin.monitoring.dashboard.texts import LONG, shortened

if TYPE_CHECKING:
    from streamlin.tagging.model import LearnedSentences


class WrongSentence(NamedTuple):
    """A sentence, its wrong tokens in brackets; the true and the predicted tags of these tokens, as codes."""

    name: str
    text: str
    labels: list[int]
    predicted: list[int]
    confidence: float

    def shown(self, names: list[str], hide_text: bool) -> dict[str, Any]:
        """JSON-able; `names` are the tags by code."""
        return {
            "event": shortened(self.name, LONG),
            "text": None if hide_text else shortened(self.text, LONG),
            "label": shortened(" ".join(names[code] for code in self.labels)),
            "predicted": shortened(" ".join("–" if code < 0 else names[code] for code in self.predicted)),
            "confidence": None if np.isnan(self.confidence) else round(self.confidence, 3),
        }


def wrong_sentences(learned: "LearnedSentences", most: int) -> list[WrongSentence]:
    """The last sentences of a batch of which the leading tagger got a tag wrong, in order; at most so many."""
    codes, predictions, bounds = learned.codes, learned.predictions, learned.bounds
    lead = np.repeat(predictions.lead, np.diff(bounds))
    tags = predictions.tags[lead, np.arange(codes.size)]
    wrong = np.flatnonzero((codes >= 0) & (tags != codes))
    rows = np.unique(np.searchsorted(bounds, wrong, side="right") - 1)[-most:]
    found = []
    for row in rows.tolist():
        begin, end = int(bounds[row]), int(bounds[row + 1])
        own = wrong[(wrong >= begin) & (wrong < end)].tolist()
        name, tokens = _sentence(learned, row)
        marked = [f"[{token}]" if begin + t in own else token for t, token in enumerate(tokens)]
        confidence = float(predictions.confidences[predictions.lead[row], row])
        found.append(WrongSentence(name, " ".join(marked), codes[own].tolist(), tags[own].tolist(), confidence))
    return found


def _sentence(learned: "LearnedSentences", row: int) -> tuple[str, list[str]]:
    """The id, or the position, and the tokens of a row."""
    batch, i = learned.text(row)
    assert batch.pieces is not None
    name = batch.ids[i]
    begin, end = batch.pieces[i : i + 2].tolist()
    return learned.rows.records.name(int(learned.rows.kept[row])) if name is None else name, batch.texts[begin:end]
