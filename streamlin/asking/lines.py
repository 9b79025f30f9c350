"""What is asked, as JSON lines."""

from typing import Any

import msgspec
import numpy as np

from streamlin.asking.decisions import AT_RANDOM, FIRST, UNCERTAIN
from streamlin.evaluation.predictions import Predictions
from streamlin.events import Batch, LabelIndex
from streamlin.streams.prediction_lines import Lines

WHY = {FIRST: "first", UNCERTAIN: "uncertain", AT_RANDOM: "random"}
"""Why a label is asked for, as people read it."""


def request(
    id_: str | None, text: str | None, predicted: str | None, confidence: float, reason: int, probability: float
) -> dict[str, Any]:
    """What is asked about an event, JSON-able. text : None to hide it. confidence : NaN for none."""
    shown = {"id": id_} | ({} if text is None else {"text": text})
    sure = None if np.isnan(confidence) else float(np.floor(confidence * 1e6 + 0.5)) / 1e6
    return shown | {"predicted": predicted, "confidence": sure, "why": WHY[reason], "probability": probability}


class WantedLines:
    """Makes `{"id": …, "text": …, "predicted": …, "confidence": …, "why": …, "probability": …}` for each request.

    A text of several fields has a line for each.

    hide_text : leave out the texts.
    """

    def __init__(self, labels: LabelIndex, hide_text: bool) -> None:
        self._labels, self._hide_text = labels, hide_text

    def encode(self, batch: Batch, given: Batch, predictions: Predictions) -> tuple[Lines, Batch]:
        """The lines of a batch, each with its line feed, and the events that they are of.

        given, predictions : the events of the batch that have a text, and what was predicted.
        """
        asked = predictions.asked
        chosen = np.flatnonzero([] if asked is None else asked.reasons)
        events, own = given.take(chosen), predictions.take(chosen)
        names, texts = [*self._labels.names, None], self._texts(batch, chosen)
        codes = own.predicted[own.lead, np.arange(chosen.size)].tolist()
        why = (
            () if own.asked is None else zip(own.asked.reasons.tolist(), own.asked.probabilities.tolist(), strict=True)
        )
        lines = [
            msgspec.json.encode(request(id_, text, names[code], confidence, *reason)) + b"\n"
            for id_, text, code, confidence, reason in zip(
                events.ids, texts, codes, own.confidences.tolist(), why, strict=True
            )
        ]
        return Lines(memoryview(b"".join(lines)), np.cumsum([0, *map(len, lines)])), events

    def _texts(self, batch: Batch, chosen: Any) -> list[str | None]:
        """Those of some of the events that have a text."""
        if self._hide_text or not chosen.size:
            return [None] * chosen.size
        texts = batch.whole_texts()
        numbers = chosen if batch.label_only is None else np.flatnonzero(~batch.label_only)[chosen]
        return [texts[number] for number in numbers.tolist()]
