"""Prequential evaluation: each event is predicted, then counted, before it is learned."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamlin.config import EvaluationConfig
from streamlin.errors import CheckpointError
from streamlin.evaluation import metrics
from streamlin.evaluation.array_state import ArrayState
from streamlin.evaluation.baselines import Baselines
from streamlin.evaluation.calibration import Calibration
from streamlin.evaluation.confusion import Confusion
from streamlin.evaluation.curve import POINTS
from streamlin.evaluation.dead_letter_kinds import DeadLetterKinds
from streamlin.evaluation.drift import Alarm, Drift
from streamlin.evaluation.feature_counts import FeatureCounts
from streamlin.evaluation.label_sums import LabelSums
from streamlin.evaluation.measures import Measures
from streamlin.evaluation.metric import Metric
from streamlin.evaluation.metrics.raw_accuracy import RawAccuracy
from streamlin.evaluation.pairs import Pairs
from streamlin.evaluation.predictions import Earlier, Predictions, predict
from streamlin.evaluation.sampled import Sample, Sampled
from streamlin.evaluation.sampled_sums import SampledSums
from streamlin.evaluation.slices import Slices
from streamlin.evaluation.spans import Span, Sums
from streamlin.evaluation.tally import Tally
from streamlin.events import DeadLetter, LabelIndex
from streamlin.features.rows import Examples
from streamlin.storage.arrays import Expected

if TYPE_CHECKING:
    from streamlin.features.drain import Drain


class KeyModels(Protocol):
    """What knows the accuracy of each key; see `streamlin.keyed.models`."""

    def to_json(self, details: bool) -> dict[str, Any]:
        """What a report has of keys."""


UNVERIFIED = "unverified: no label has been learned yet, so these predictions rest on the words of [priors]"


class Prequential:
    """Everything that is counted about one run, and the predictions it is counted of.

    Parameters
    ----------
    learners : their names, in order.
    config : windows, fields to slice by, columns that hold the predictions of other systems (`references`).
    calibrated : for each learner, whether the softmax of its scores is its probabilities; None: for none.
    views : names of the views whose features are counted.
    measures : of the tokens of events; None: there are none.
    sampled : whether only a sample of the events gets labels, see `streamlin.evaluation.sampled`.

    complete : whether all metrics are computed, and not accuracy and the goodness of probabilities alone.
    new_alarms : the drift alarms of the last batch.
    dead_letter_kinds : how many dead letters there are of each kind.
    has_priors : whether the learners started with words set by hand.
    drain : what finds the templates of log lines; None: nothing does.
    keys : the models per key; None: there are none.
    retired : learners that have failed and predict nothing any more, by name: where and why.
    """

    def __init__(
        self,
        learners: Sequence[str],
        config: EvaluationConfig,
        calibrated: Sequence[bool] | None = None,
        views: Sequence[str] = (),
        measures: Measures | None = None,
        sampled: bool = False,
    ) -> None:
        self.learners, self.config = list(learners), config
        self.references = list(config.references)
        self.complete = config.metrics == "all"
        n_learners, n_predictors = len(learners), len(learners) + len(self.baseline_names)
        self.baselines = Baselines()
        self.tally = Tally(n_predictors, config.window, config.fading, POINTS if self.complete else 0)
        calibrated = [False] * n_learners if calibrated is None else calibrated
        self.calibration = Calibration(calibrated, config.window if self.complete else 0, config.fading)
        self.label_sums, self.pairs = LabelSums(n_predictors, config.fading), Pairs(n_predictors)
        self.sampled = Sampled(n_predictors, config) if sampled else None
        self.confusion = Confusion(n_learners, config.confusion_labels)
        self.feature_counts = FeatureCounts(views, config.window)
        self.slices = {field: Slices(n_learners, config.slice_values, self.unit) for field in config.slice_by}
        self.metrics = [[metric(n_predictors, config) for metric in group] for group in metrics.METRICS]
        self._counting = [metric for group in self.metrics for metric in group if metric.arrays and self.spans(metric)]
        self.drift = Drift(self.learners, config)
        self.new_alarms: list[Alarm] = []
        self.measures = Measures() if measures is None else measures
        self.retired: dict[str, dict[str, str]] = {}
        self.events = self.labelled = self.dead_letters = self.tombstones = self.lost = 0
        self.dead_letter_kinds = DeadLetterKinds()
        self.has_priors = False
        self.drain: Drain | None = None
        self.keys: KeyModels | None = None

    @property
    def label_weights(self) -> NDArray[np.float64]:
        """float64[n_labels]: the weight of each label's events."""
        return self.baselines.label_weights

    unit = "events"
    """What is right or wrong, and counted."""

    @property
    def unverified(self) -> bool:
        """Whether predictions rest on words set by hand alone: no label was learned yet."""
        unasked = self.sampled is not None and self.sampled.raw.totals.any()  # labels that stand for nothing else
        return self.has_priors and not self.label_weights.any() and not unasked

    def start_with(self, labels: LabelIndex, fields: Sequence[str]) -> None:
        """Know labels before the first event. fields : those that events have besides the standard ones."""
        self.has_priors = True
        scores, no_codes = np.empty((len(self.learners), 0, len(labels))), np.zeros(0, np.int32)
        self.predict_and_count(scores, no_codes, np.zeros(0), labels, {field: [] for field in fields})

    def more(self, details: bool) -> dict[str, Any]:
        """What a report has besides metrics and counts, by key. details : also what is long."""
        return {}

    has_probabilities = True
    """Whether the losses of probabilities are counted."""

    def course(self) -> Tally:
        """What knows the curve of accuracy."""
        return self.tally

    @property
    def baseline_names(self) -> list[str]:
        """The baselines, which read no text, then the references."""
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

    def spans(self, metric: Metric) -> tuple[Span, ...]:
        """Those that a metric is computed over in this run."""
        if isinstance(metric, RawAccuracy) and self.sampled is None:
            return ()
        return metric.spans if self.complete else metric.lean_spans

    def sums(self, span: Span) -> Sums:
        """What was counted over a span, for metrics to be computed from."""
        counted = (self.tally, self.label_sums, self.pairs, self.calibration, len(self.learners))
        return Sums(span, *counted) if self.sampled is None else SampledSums(span, *counted, self.sampled)

    def count_records(
        self, dead_letters: Sequence[DeadLetter], tombstones: int, lost: int, mended: str | None = None
    ) -> None:
        """Count records that became no event. mended : the error of one that was counted before, and no longer is."""
        self.dead_letters += len(dead_letters)
        self.dead_letter_kinds.add(dead_letters)
        self.tombstones += tombstones
        self.lost += lost
        if mended is not None:
            self.dead_letters -= 1
            self.dead_letter_kinds.remove(mended)

    def count_features(self, examples: Mapping[str, Examples], weights: NDArray[np.float64]) -> None:
        """Count the features of a batch, given as each view has it."""
        if self.complete:
            self.feature_counts.update(examples, weights)

    def add_features(self, counted: FeatureCounts) -> None:
        """Count features that were counted elsewhere."""
        if self.complete:
            self.feature_counts.add(counted)

    def predict_and_count(
        self,
        scores: NDArray[np.float64],
        codes: NDArray[np.int32],
        weights: NDArray[np.float64],
        labels: LabelIndex,
        extra: Mapping[str, Sequence[str | None]],
        earlier: Earlier | None = None,
        position: Callable[[int], str] | None = None,
        sample: Sample | None = None,
    ) -> Predictions:
        """Predict from scores float64[L, n, n_labels], then count the hits among label codes int32[n] (-1: no label).

        earlier : rows whose scores were made before, and with them the baselines' predictions.
        position : names the place of the i-th event in its source.
        sample : the labels as they are, if only a sample of the events gets some; then `codes` and `weights` have those
            alone that stand for others, by as much.
        """
        n_learners, n, _ = scores.shape
        predicted = np.empty((n_learners + len(self.baseline_names), n), np.int32)
        ours, baselines = predicted[:n_learners], predicted[n_learners : n_learners + 2]
        predict(scores, ours)
        if self.references:  # before the baselines learn the labels of this batch
            self._read_references(codes, labels, extra, predicted[n_learners + 2 :])
        self.baselines.predict(codes, weights, len(labels), baselines)
        if earlier is not None:  # a reference does not depend on when it is read
            baselines[:, earlier.here] = baselines[:, earlier.asked]
            baselines[:, earlier.before] = earlier.baselines
        counted = int(self.tally.count[0])
        lead = self.tally.update(predicted, codes, weights, n_learners)
        if self.config.lead is not None:
            lead[:] = self.learners.index(self.config.lead)
        if self.complete:
            self.confusion.update(ours, codes, len(labels))
            self.label_sums.update(predicted, codes, weights, len(labels))
            self.pairs.update(predicted, codes)
            self.new_alarms = self.drift.update(ours, codes, counted, position)
        for metric in self._counting:
            metric.update(predicted, codes, weights, len(labels))
        for field, slices in self.slices.items():
            slices.update(extra[field], ours, codes, weights)
        margins = () if sample is None else (sample.margins,)
        confidences = self.calibration.update(scores, ours, lead, codes, weights, counted, *margins)
        if sample is not None and self.sampled is not None:
            self.sampled.update(predicted, codes, weights, sample, len(labels))
        return Predictions(ours, lead, confidences, baselines, np.empty((0, codes.size)))

    def _read_references(
        self,
        codes: NDArray[np.int32],
        labels: LabelIndex,
        extra: Mapping[str, Sequence[str | None]],
        predicted: NDArray[np.int32],
    ) -> None:
        """Set predicted int32[references, n] to the codes of what the references predict."""
        seen = np.maximum(np.maximum.accumulate(codes) + 1, self.baselines.label_weights.size)
        for row, field in zip(predicted, self.references, strict=True):
            row[:] = _reference_codes(extra[field], labels, seen)

    def predict(self, scores: NDArray[np.float64]) -> Predictions:
        """Predictions from scores float64[L, n, n_labels], counting nothing; the lead is as `leads` has it."""
        n = scores.shape[1]
        predicted = np.empty(scores.shape[:2], np.int32)
        predict(scores, predicted)
        lead, unlabelled = self.leads(predicted), np.full(n, -1, np.int32)
        confidences = self.calibration.update(scores, predicted, lead, unlabelled, np.ones(n), 0)
        return Predictions(predicted, lead, confidences, np.full((2, n), -1, np.int32), np.empty((0, n)))

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[n, n_labels] of the learner that `leads`, from scores float64[L, n, n_labels]."""
        predicted = np.empty(scores.shape[:2], np.int32)
        predict(scores, predicted)
        lead = self.leads(predicted)
        shares = np.empty(scores.shape[1:])
        for learner in np.unique(lead).tolist():
            led = lead == learner
            shares[led] = self.calibration.probabilities(learner, scores[learner, led])
        return shares

    def confidences(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[L, n], each learner's in its own prediction, from scores as above; NaN where it abstains."""
        n_learners, n, _ = scores.shape
        predicted, unlabelled = np.empty((n_learners, n), np.int32), np.full(n, -1, np.int32)
        predict(scores, predicted)
        each = (np.full(n, number, np.int32) for number in range(n_learners))
        return np.array([self.calibration.update(scores, predicted, one, unlabelled, np.ones(n), 0) for one in each])

    def leads(self, predicted: NDArray[np.int32]) -> NDArray[np.int32]:
        """int32[n]: the learner whose prediction is given out, from predicted int32[L, n], -1 for an abstention.

        It is the configured one, else that of the best running accuracy among those that do not abstain; ties go to
        the first.
        """
        if self.config.lead is not None:
            return np.full(predicted.shape[1], self.learners.index(self.config.lead), np.int32)
        order = np.argsort(-self.tally.hit_weights[: len(self.learners)], kind="stable").astype(np.int32)
        silent = predicted[order] < 0
        leads: NDArray[np.int32] = order[silent.argmin(axis=0)]
        return leads

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays by name, and the rest as JSON-able values."""
        arrays = {f"{part}/{name}": array for part, counts in self._parts() for name, array in counts.state().items()}
        slices = {field: slices.values.names for field, slices in self.slices.items()}
        kinds = self.dead_letter_kinds.counts
        return arrays, self.counts | {
            "dead_letters_by_kind": dict(kinds),
            "slices": slices,
            "drift": self.drift.to_json(),
            **self.measures.rest(),
        }

    def expected(self, n_labels: int) -> dict[str, Expected]:
        """What the arrays of a checkpoint with so many labels must be."""
        parts = ((part, counts.expected(n_labels)) for part, counts in self._parts())
        return {f"{part}/{name}": array for part, arrays in parts for name, array in arrays.items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        """Take over what `state` returned; arrays that are as `expected`.

        Raises
        ------
        CheckpointError : it contradicts itself.
        """
        for part, counts in self._parts():
            counts.restore({name: arrays[f"{part}/{name}"] for name in counts.arrays})
            if not counts.is_consistent():
                raise CheckpointError(f"the checkpoint's arrays evaluation/{part} contradict each other")
        for field, slices in self.slices.items():
            slices.restore_values(rest["slices"].get(field))
        self.drift.restore(rest["drift"])
        self.measures.restore_rest(rest)
        self.events, self.labelled, self.dead_letters = rest["events"], rest["labelled"], rest["dead_letters"]
        self.tombstones, self.lost = rest["tombstones"], rest["lost"]
        self.dead_letter_kinds = DeadLetterKinds(rest.get("dead_letters_by_kind"))  # older checkpoints have none

    def _parts(self) -> Iterator[tuple[str, ArrayState]]:
        """All that keep arrays, with the name that begins theirs in a checkpoint."""
        yield from (("accuracy", self.tally), ("calibration", self.calibration), ("baselines", self.baselines))
        if self.complete:
            yield from (("sums", self.label_sums), ("pairs", self.pairs), ("confusion", self.confusion))
            yield "inputs", self.feature_counts
            if self.drift.detector is not None:
                yield "drift", self.drift.detector
        yield from self.measures.parts()
        if self.sampled is not None:
            yield from (("raw", self.sampled.raw), ("raw_sums", self.sampled.raw_sums))
            yield "weighted_pairs", self.sampled.pairs
        yield from ((f"slices/{field}", slices) for field, slices in self.slices.items())
        yield from ((f"metrics/{metric.name}", metric) for metric in self._counting)


def _reference_codes(values: Sequence[str | None], labels: LabelIndex, seen: NDArray[np.int64]) -> NDArray[np.int32]:
    """Codes of a reference's predictions; -1 for an abstention, -2 for a label that was not seen yet: a miss.

    seen : int64[n], labels seen up to each event, its own among them; later ones of the batch count as not seen.
    """
    codes = labels.codes(values)
    codes[[value is not None and code < 0 for value, code in zip(values, codes, strict=True)]] = -2
    codes[codes >= seen] = -2
    return codes
