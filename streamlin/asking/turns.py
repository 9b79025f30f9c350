"""Predicting, counting and asking for a batch in which answers to its own questions may arrive.

An answer counts by the probability of asking, which is known once its text is predicted; and that prediction depends on
what was counted before. So a batch is taken in turns, each of which ends before the first answer to a question in it.
Where answers come later than a batch, as they mostly do, that is one turn.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from streamlin.asking.asking import Asking
from streamlin.delayed_labels import LabelsById
from streamlin.delayed_labels.plan import Plan
from streamlin.delayed_labels.wanted import Request
from streamlin.evaluation.predictions import Asked, Earlier, Predictions
from streamlin.evaluation.prequential import Prequential
from streamlin.evaluation.sampled import Sample
from streamlin.events import Batch, LabelIndex


class Turns:
    """The turns of a batch.

    Parameters
    ----------
    asking, delayed_labels, prequential : decide, keep what is asked, and count.
    plan, rows : of the batch, R rows. scores : float64[L, R, n_labels]. codes : int32[R], of the labels to learn.
    """

    def __init__(
        self,
        asking: Asking,
        delayed_labels: LabelsById,
        prequential: Prequential,
        plan: Plan,
        rows: Batch,
        scores: NDArray[np.float64],
        codes: NDArray[np.int32],
    ) -> None:
        self._asking, self._delayed_labels, self._prequential = asking, delayed_labels, prequential
        self._plan, self._rows, self._scores, self._codes = plan, rows, scores, codes
        self._learned = list(plan.learned())
        self._asked = Asked(np.zeros(codes.size, np.int8), np.zeros(codes.size))

    def take(self, labels: LabelIndex, earlier: Earlier, position: Callable[[int], str]) -> Predictions:
        """Predict and count all rows; see `Prequential.predict_and_count`."""
        done: list[Predictions] = []
        alarms = []
        for begin, end in pairwise(self._bounds()):
            done.append(self._one(begin, end, labels, _earlier(earlier, begin, end, done), position))
            alarms += self._prequential.new_alarms
            self._ask(begin, end, done[-1])
        self._prequential.new_alarms = alarms
        return Predictions(
            np.concatenate([one.predicted for one in done], axis=1),
            np.concatenate([one.lead for one in done]),
            np.concatenate([one.confidences for one in done]),
            np.concatenate([one.baselines for one in done], axis=1),
            np.concatenate([one.measures for one in done], axis=1),
            self._asked,
        )

    def _bounds(self) -> list[int]:
        """Where turns begin, and the number of rows."""
        askable, bounds = {*map(id, self._plan.askable)}, [0]
        for row, text in self._learned:
            if text.row >= bounds[-1] and id(text) in askable:
                bounds.append(row)
        return [*bounds, self._codes.size]

    def _one(
        self, begin: int, end: int, labels: LabelIndex, earlier: Earlier, position: Callable[[int], str]
    ) -> Predictions:
        scores, codes, weights = self._scores, self._codes[begin:end], self._rows.weights[begin:end]
        if (begin, end) != (0, self._codes.size):
            scores = np.ascontiguousarray(scores[:, begin:end])
        stands_for = self._stands_for(begin, end)
        self._margins = np.zeros(codes.size)
        return self._prequential.predict_and_count(
            scores,
            np.where(stands_for > 0, codes, np.int32(-1)),
            weights * stands_for,
            labels,
            {field: column[begin:end] for field, column in self._rows.extra.items()},
            earlier,
            lambda row: position(begin + row),
            Sample(codes, weights, self._margins),
        )

    def _stands_for(self, begin: int, end: int) -> NDArray[np.float64]:
        """How many events the label of each row stands for: 1 / probability; 0 where it arrives without being asked."""
        found = np.ones(end - begin)
        askable = {*map(id, self._plan.askable)}
        for row, text in self._learned:
            if begin <= row < end and (text.row < 0 or id(text) in askable):
                found[row - begin] = 1.0 / text.asked if text.asked else 0.0
                self._asking.counts[2] += text.asked > 0
        return found

    def _ask(self, begin: int, end: int, predictions: Predictions) -> None:
        """Decide whose label is asked for, among the texts that arrived in a turn."""
        texts = [text for text in self._plan.askable if begin <= text.row < end]
        places = np.array([text.row for text in texts], np.int64) - begin
        asked = self._asking.decide(self._margins[places])
        self._asked.reasons[places + begin] = asked.reasons
        self._asked.probabilities[places + begin] = asked.probabilities
        predicted = predictions.predicted[predictions.lead, np.arange(end - begin)]
        for number in np.flatnonzero(asked.reasons).tolist():
            text, place = texts[number], places[number]
            why = int(asked.reasons[number]), float(asked.probabilities[number])
            request = Request(text.number, int(predicted[place]), float(predictions.confidences[place]), *why)
            self._delayed_labels.ask(text, request)


def _earlier(earlier: Earlier, begin: int, end: int, done: list[Predictions]) -> Earlier:
    """The part of a turn; what was predicted in turns that are done was predicted before."""
    here, asked, before, baselines = earlier
    own = (here >= begin) & (here < end)
    here, asked = here[own] - begin, asked[own]
    inside, of_before = asked >= begin, (before >= begin) & (before < end)
    kept = [baselines[:, of_before]] if before.size else []
    rows = [before[of_before] - begin]
    if not inside.all():
        rows.append(here[~inside])
        kept.append(np.concatenate([one.baselines for one in done], axis=1)[:, asked[~inside]])
    both = np.concatenate(kept, axis=1) if kept else baselines
    return Earlier(here[inside], asked[inside] - begin, np.concatenate(rows), both)
