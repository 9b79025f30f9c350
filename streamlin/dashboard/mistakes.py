"""The events that the lead got wrong last."""

from collections import deque
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.dashboard.texts import LONG, shortened
from streamlin.events import Batch
from streamlin.model import Learned

KEPT = 20
_FEW = 4
"""Mistakes of a batch, below which they are read from it at once."""


class _Wrong(NamedTuple):
    """Rows that were predicted wrong, by number."""

    learned: Learned
    rows: NDArray[np.int64]
    given: NDArray[np.int32]


class _Mistake(NamedTuple):
    name: str
    text: list[str]
    label: int
    predicted: int
    confidence: float


class Mistakes:
    """The last twenty labelled events of which the prediction that was given out was wrong.

    hide_text : keep no text.
    """

    def __init__(self, hide_text: bool) -> None:
        self._hide_text = hide_text
        self._last: deque[_Mistake] = deque(maxlen=KEPT)
        self._unread: deque[_Wrong] = deque(maxlen=KEPT // _FEW)

    def learned(self, learned: Learned) -> None:
        """Look through what was learned.

        The mistakes of a batch are read from it when somebody looks: mostly those of later ones have replaced them by
        then. Batches that wait for that have 20 together, so that there are few.
        """
        codes, predictions = learned.codes, learned.predictions
        given = predictions.predicted[predictions.lead, np.arange(codes.size)]
        rows = np.flatnonzero((codes >= 0) & (given != codes))[-KEPT:]
        if not rows.size:
            return
        self._unread.append(_Wrong(learned, rows, given[rows]))
        if rows.size < _FEW:
            self._read()

    def listed(self, labels: list[str]) -> list[dict[str, Any]]:
        """The newest first, JSON-able; `labels` are the names by code."""
        self._read()
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
            learned, rows, given = self._unread.popleft()
            for row, predicted in zip(rows.tolist(), given.tolist(), strict=True):
                batch, i = learned.text(row)
                name = batch.ids[i]
                self._last.append(
                    _Mistake(
                        learned.rows.records.name(learned.rows.kept[row]) if name is None else name,
                        [] if self._hide_text else _pieces(batch, i),
                        int(learned.codes[row]),
                        predicted,
                        float(learned.predictions.confidences[row]),
                    )
                )


def _pieces(batch: Batch, i: int) -> list[str]:
    """The texts of an event, each no longer than what is shown of it: a long one is not to be kept."""
    bounds = (i, i + 1) if batch.pieces is None else batch.pieces[i : i + 2]
    return [text[: LONG + 1] for text in batch.texts[bounds[0] : bounds[1]]]
