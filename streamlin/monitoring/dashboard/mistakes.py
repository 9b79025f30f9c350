"""The latest events that were predicted wrong."""

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.events import Batch
from streamlin.kernel import kernel
from streamlin.model import Learned
from streamlin.monitoring.dashboard.texts import LONG, shortened

if TYPE_CHECKING:
    from streamlin.monitoring.dashboard.wrong_sentences import WrongSentence
    from streamlin.tagging.model import LearnedSentences

KEPT = 20
_FEW = 4
"""A batch with fewer mistakes is not kept: they are read from it at once."""


class _Wrong(NamedTuple):
    """A batch and the numbers of its rows that were predicted wrong."""

    learned: Learned
    rows: NDArray[np.int64]


class _Mistake(NamedTuple):
    name: str
    text: list[str]
    label: int
    predicted: int
    confidence: float


class Mistakes:
    """The last twenty labelled events whose published prediction was wrong.

    hide_text : keep no texts.
    """

    def __init__(self, hide_text: bool) -> None:
        self._hide_text = hide_text
        self._last: deque[_Mistake] = deque(maxlen=KEPT)
        self._unread: deque[_Wrong] = deque(maxlen=KEPT // _FEW)
        self._sentences: deque[WrongSentence] = deque(maxlen=KEPT)

    def learned(self, learned: "Learned | LearnedSentences") -> None:
        """Find the mistakes of a batch.

        They are read from the batch only when they are listed; by then mistakes of later batches have replaced most of
        them. Few batches are kept for that, since each holds several of the twenty.
        """
        if not isinstance(learned, Learned):
            from streamlin.monitoring.dashboard.wrong_sentences import wrong_sentences  # needed by taggers only

            self._sentences.extend(wrong_sentences(learned, KEPT, self._hide_text))
            return
        rows = np.empty(KEPT, np.int64)
        found = last_wrong(learned.predictions.predicted, learned.predictions.lead, learned.codes, rows)
        if found == KEPT:  # this batch replaces all earlier mistakes
            self._unread.clear()
            self._last.clear()
        if found:
            self._unread.append(_Wrong(learned, rows[KEPT - found :]))
        if found < _FEW:
            self._read()

    def listed(self, labels: list[str]) -> list[dict[str, Any]]:
        """The newest first, JSON-able; `labels` are the names by code."""
        self._read()
        if self._sentences:
            return [wrong.shown(labels) for wrong in reversed(self._sentences)]
        return [
            {
                "event": shortened(mistake.name, LONG),
                "text": None if self._hide_text else shortened("\n".join(mistake.text), LONG),
                "label": shortened(labels[mistake.label]),
                "predicted": None if mistake.predicted < 0 else shortened(labels[mistake.predicted]),
                "confidence": None if np.isnan(mistake.confidence) else round(mistake.confidence, 3),
            }
            for mistake in reversed(self._last)
        ]

    def _read(self) -> None:
        while self._unread:
            learned, rows = self._unread.popleft()
            predictions = learned.predictions
            for row in rows.tolist():
                batch, i = learned.text(row)
                name = batch.ids[i]
                self._last.append(
                    _Mistake(
                        learned.rows.records.name(learned.rows.kept[row]) if name is None else name,
                        [] if self._hide_text else _pieces(batch, i),
                        int(learned.codes[row]),
                        int(predictions.predicted[predictions.lead[row], row]),
                        float(predictions.confidences[row]),
                    )
                )


@kernel
def last_wrong(
    predicted: NDArray[np.int32],
    lead: NDArray[np.int32],
    codes: NDArray[np.int32],
    rows: NDArray[np.int64],
) -> int:
    """Set the end of `rows` to the last rows that the leading learner got wrong, in order; returns their number.

    predicted int32[L, n], lead int32[n], codes int32[n] (-1: no label): see `streamlin.model.Learned`.
    """
    found = 0
    for i in range(codes.size - 1, -1, -1):
        if codes[i] >= 0 and predicted[lead[i], i] != codes[i]:
            found += 1
            rows[rows.size - found] = i
            if found == rows.size:
                break
    return found


def _pieces(batch: Batch, i: int) -> list[str]:
    """The texts of an event, cut to the length that is shown, so that long ones are not kept in memory."""
    bounds = (i, i + 1) if batch.pieces is None else batch.pieces[i : i + 2]
    return [text[: LONG + 1] for text in batch.texts[bounds[0] : bounds[1]]]
