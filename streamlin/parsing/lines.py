"""Predictions of parsers as JSON lines."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from streamlin.evaluation.parsing import TreePredictions
from streamlin.events import Batch
from streamlin.streams.prediction_lines import Lines

_DIGITS = 4


class TreeLines:
    """Makes `{"id": …, "predicted": "(S …)", "confidence": …, "log_probability": …, "covered": …, "learners": {…},
    "tree": "(S …)"}`, one line per sentence.

    Measures that are asked for follow `covered`. A sentence that was not parsed has null for its tree, and so has a
    probability that there is none of; one without a tree of its own has no `tree`. Sentences that were texts have
    `start` and `end`, the places of their tokens in the text.
    """

    def __init__(self, learners: Sequence[str], measures: Sequence[str] = ()) -> None:
        self._learners, self._measures = tuple(learners), tuple(measures)

    def encode(self, batch: Batch, predictions: TreePredictions) -> Lines:
        """The lines of a batch, each with its line feed."""
        lines = [
            f"{json.dumps(self._line(batch, predictions, i), ensure_ascii=False)}\n".encode() for i in range(len(batch))
        ]
        bounds = np.zeros(len(lines) + 1, np.int64)
        np.cumsum([len(line) for line in lines], out=bounds[1:])
        return Lines(memoryview(b"".join(lines)), bounds)

    def _line(self, batch: Batch, predictions: TreePredictions, i: int) -> dict[str, Any]:
        lead = int(predictions.lead[i])
        line: dict[str, Any] = {"position": batch.keys()[i]} if batch.ids[i] is None else {"id": batch.ids[i]}
        line |= {
            "predicted": predictions.trees[lead][i],
            "confidence": rounded(predictions.confidences[lead, i]),
            "log_probability": rounded(predictions.log_probabilities[lead, i]),
            "covered": bool(predictions.covered[lead, i]),
        }
        line |= dict(zip(self._measures, map(rounded, predictions.measures[:, i]), strict=True))
        assert batch.pieces is not None
        assert batch.tokens is not None
        begin, end = batch.pieces[i : i + 2].tolist()
        places = batch.tokens.offsets
        if places is not None and begin < end and places[begin, 0] >= 0:
            line |= {"start": places[begin:end, 0].tolist(), "end": places[begin:end, 1].tolist()}
        line["learners"] = {name: trees[i] for name, trees in zip(self._learners, predictions.trees, strict=True)}
        return line if batch.labels[i] is None else line | {"tree": batch.labels[i]}


def rounded(value: float) -> float | None:
    """To four places; None for NaN."""
    return None if np.isnan(value) else round(float(value), _DIGITS)
