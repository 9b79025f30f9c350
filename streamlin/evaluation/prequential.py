"""Test, then train, measured: everything that is counted about a stream, in one place."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.config import EvaluationConfig
from streamlin.evaluation.accuracy import Accuracy
from streamlin.evaluation.baselines import Baselines
from streamlin.evaluation.calibration import Calibration
from streamlin.evaluation.confusion import Confusion
from streamlin.evaluation.curve import POINTS
from streamlin.evaluation.drift import Alarm, Drift
from streamlin.evaluation.inputs import Inputs
from streamlin.evaluation.label_sums import LabelSums
from streamlin.evaluation.measure import Measure
from streamlin.evaluation.pairs import Pairs
from streamlin.evaluation.predictions import Earlier, Predictions, predict
from streamlin.evaluation.slices import Slices
from streamlin.events import LabelIndex
from streamlin.features.rows import Examples


class Prequential:
    """Counts, accuracies, agreement, comparisons, probabilities, baselines, confusion and slices of one run.

    Parameters
    ----------
    learners : their names, in order.
    config : windows, fields to slice by, columns that hold predictions of others (`references`).
    calibrated : for each learner, whether the softmax of its scores is its probabilities; None: for none.
    views : names of the views whose features are counted.

    news : the alarms of the last batch.
    retired : learners that have failed and say nothing any more, by name: where and why.
    """

    def __init__(
        self,
        learners: Sequence[str],
        config: EvaluationConfig,
        calibrated: Sequence[bool] | None = None,
        views: Sequence[str] = (),
    ) -> None:
        self.learners, self.config = list(learners), config
        self.baselines = Baselines()
        self.references = list(config.references)
        n_predictors = len(learners) + len(self.baseline_names)
        self.all = config.metrics == "all"
        self.accuracy = Accuracy(n_predictors, config.window, config.fading, POINTS if self.all else 0)
        calibrated = [False] * len(learners) if calibrated is None else calibrated
        self.calibration = Calibration(calibrated, config.window if self.all else 0, config.fading)
        self.sums, self.pairs = LabelSums(n_predictors, config.fading), Pairs(n_predictors)
        self.confusion = Confusion(len(learners), config.confusion_labels)
        self.drift = Drift(self.learners, config)
        self.news: list[Alarm] = []
        self.retired: dict[str, dict[str, str]] = {}
        self.inputs = Inputs(views, config.window)
        self.slices = {field: Slices(len(learners), config.slice_values) for field in config.slice_by}
        self.events = self.labelled = self.dead_letters = self.tombstones = self.lost = 0

    @property
    def baseline_names(self) -> list[str]:
        """Those that read no text, then the references."""
        return [*Baselines.names, *self.references]

    @property
    def counts(self) -> dict[str, int]:
        """What was read, by name: `tombstones` are records without a value, `lost` ones were gone before."""
        return {
            "events": self.events,
            "labelled": self.labelled,
            "unlabelled": self.events - self.labelled,
            "dead_letters": self.dead_letters,
            "tombstones": self.tombstones,
            "lost": self.lost,
        }

    def look(self, examples: Mapping[str, Examples], weights: NDArray[np.float64]) -> None:
        """Count what a batch's texts are made of, given as each view sees it."""
        if self.all:
            self.inputs.update(examples, weights)

    def count(self, dead_letters: int, tombstones: int, lost: int) -> None:
        """Count records that became no event."""
        self.dead_letters += dead_letters
        self.tombstones += tombstones
        self.lost += lost

    def measure(
        self,
        scores: NDArray[np.float64],
        codes: NDArray[np.int32],
        weights: NDArray[np.float64],
        labels: LabelIndex,
        extra: Mapping[str, Sequence[str | None]],
        earlier: Earlier | None = None,
        position: Callable[[int], str] | None = None,
    ) -> Predictions:
        """Predict from scores float64[L, n, n_labels], then count them against label codes int32[n] (-1: none).

        earlier : rows whose scores are from before, and with them the baselines' predictions.
        position : what the i-th event's place in its source is called.
        """
        n_learners, n, _ = scores.shape
        predicted = np.empty((n_learners + len(self.baseline_names), n), np.int32)
        ours, baselines = predicted[:n_learners], predicted[n_learners : n_learners + 2]
        predict(scores, ours)
        seen = np.maximum(np.maximum.accumulate(codes) + 1, self.baselines.label_weights.size)
        self.baselines.predict(codes, weights, len(labels), baselines)
        for row, field in enumerate(self.references, n_learners + 2):
            predicted[row] = _reference_codes(extra[field], labels, seen)
        if earlier is not None:  # references are what they are, whenever
            baselines[:, earlier.here] = baselines[:, earlier.asked]
            baselines[:, earlier.before] = earlier.baselines
        counted = int(self.accuracy.count[0])
        lead = self.accuracy.update(predicted, codes, weights, n_learners)
        if self.config.lead is not None:
            lead[:] = self.learners.index(self.config.lead)
        if self.all:
            self.confusion.update(ours, codes, len(labels))
            self.sums.update(predicted, codes, weights, len(labels))
            self.pairs.update(predicted, codes)
            self.news = self.drift.update(ours, codes, counted, position)
        for field, slices in self.slices.items():
            slices.update(extra[field], ours, codes, weights)
        confidences = self.calibration.update(scores, ours, lead, codes, weights, counted)
        return Predictions(ours, lead, confidences, baselines)

    def predict(self, scores: NDArray[np.float64]) -> Predictions:
        """Predictions from scores float64[L, n, n_labels], counting nothing; the lead is as `leads` has it."""
        n = scores.shape[1]
        predicted = np.empty(scores.shape[:2], np.int32)
        predict(scores, predicted)
        lead, unlabelled = self.leads(predicted), np.full(n, -1, np.int32)
        confidences = self.calibration.update(scores, predicted, lead, unlabelled, np.ones(n), 0)
        return Predictions(predicted, lead, confidences, np.full((2, n), -1, np.int32))

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[n, n_labels], from scores float64[L, n, n_labels]; of the learner that `leads`."""
        predicted = np.empty(scores.shape[:2], np.int32)
        predict(scores, predicted)
        lead = self.leads(predicted)
        shares = np.empty(scores.shape[1:])
        for learner in np.unique(lead).tolist():
            led = lead == learner
            shares[led] = self.calibration.probabilities(learner, scores[learner, led])
        return shares

    def confidences(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[L, n], each learner's in its own prediction, from scores as above; NaN where it makes none."""
        n_learners, n, _ = scores.shape
        predicted, unlabelled = np.empty((n_learners, n), np.int32), np.full(n, -1, np.int32)
        predict(scores, predicted)
        each = (np.full(n, number, np.int32) for number in range(n_learners))
        return np.array([self.calibration.update(scores, predicted, one, unlabelled, np.ones(n), 0) for one in each])

    def leader(self) -> int | None:
        """The learner that was right most often, weights aside; the first of several; None where there is no label."""
        correct = self.accuracy.correct[: len(self.learners)]
        return int(correct.argmax()) if self.accuracy.count[0] else None

    def leads(self, predicted: NDArray[np.int32]) -> NDArray[np.int32]:
        """int32[n]: the learner whose prediction is given out, from predicted int32[L, n], -1 for an abstention.

        The configured one, else that of the best running accuracy among those that say something; ties go to the first.
        """
        if self.config.lead is not None:
            return np.full(predicted.shape[1], self.learners.index(self.config.lead), np.int32)
        order = np.argsort(-self.accuracy.hit_weights[: len(self.learners)], kind="stable").astype(np.int32)
        silent = predicted[order] < 0
        leads: NDArray[np.int32] = order[silent.argmin(axis=0)]
        return leads

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays by name, and the rest as JSON-able values."""
        arrays: dict[str, NDArray[Any]] = {}
        for part, measure in self._measures().items():
            arrays |= {f"{part}/{name}": array for name, array in measure.state().items()}
        slices = {field: slices.values.names for field, slices in self.slices.items()}
        return arrays, self.counts | {"slices": slices, "drift": self.drift.report()}

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        """Take what `state` gave."""
        for part, measure in self._measures().items():
            measure.restore({name: arrays[f"{part}/{name}"] for name in measure.arrays})
        for field, values in rest["slices"].items():
            self.slices[field].values = LabelIndex(values)
        self.drift.restore(rest["drift"])
        self.events, self.labelled, self.dead_letters = rest["events"], rest["labelled"], rest["dead_letters"]
        self.tombstones, self.lost = rest["tombstones"], rest["lost"]

    def _measures(self) -> dict[str, Measure]:
        """By the name under which a checkpoint keeps its arrays."""
        others: dict[str, Measure] = {
            "sums": self.sums,
            "pairs": self.pairs,
            "confusion": self.confusion,
            "inputs": self.inputs,
        }
        if self.drift.detector is not None:
            others["drift"] = self.drift.detector
        slices: dict[str, Measure] = {f"slices/{field}": slices for field, slices in self.slices.items()}
        return (
            {
                "accuracy": self.accuracy,
                "calibration": self.calibration,
                "baselines": self.baselines,
            }
            | (others if self.all else {})
            | slices
        )


def _reference_codes(values: Sequence[str | None], labels: LabelIndex, seen: NDArray[np.int64]) -> NDArray[np.int32]:
    """Codes of another's predictions; -1 for none, -2 for a label that was not seen yet: a miss, no abstention.

    seen : int64[n], how many labels were, each event's own among them; a batch's later ones count as not seen.
    """
    codes = labels.codes(values)
    codes[[value is not None and code < 0 for value, code in zip(values, codes, strict=True)]] = -2
    codes[codes >= seen] = -2
    return codes
