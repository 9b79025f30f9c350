"""The spans of a stream that a metric is computed over, and the sums of each."""

from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.baselines import MAJORITY, NO_CHANGE
from streamlin.evaluation.calibration import Calibration, Losses
from streamlin.evaluation.label_sums import LabelSums, Totals
from streamlin.evaluation.pairs import Pairs, p_value
from streamlin.evaluation.sentence_tally import SentenceTally, SentenceTotals
from streamlin.evaluation.tally import Tally
from streamlin.evaluation.window import Window

Span = Literal["running", "window", "fading"]
"""All labelled events; the last `evaluation.window` of them; all, older ones counting less and less."""
PREFIXES: dict[Span, str] = {"running": "", "window": "window_", "fading": "fading_"}
"""What a report's key begins with, by span."""


class Sums:
    """What was counted over one span of M predictors: L learners, then the baselines and references.

    Each sum is computed when a metric first asks for it, and kept.

    span : which one. n_learners : L.
    """

    def __init__(
        self,
        span: Span,
        tally: Tally | SentenceTally,
        label_sums: LabelSums,
        pairs: Pairs,
        calibration: Calibration | None,
        n_learners: int,
    ) -> None:
        self.span, self.n_learners = span, n_learners
        self._tally, self._label_sums, self._pairs, self._calibration = tally, label_sums, pairs, calibration

    @property
    def events(self) -> int:
        """Labelled events of weight above 0, over all time."""
        return int(self._tally.count[0])

    @property
    def correct(self) -> NDArray[np.int64]:
        """int64[M], events predicted right, over all time."""
        return self._tally.correct

    @property
    def abstained(self) -> NDArray[np.int64]:
        """int64[M], events without a prediction, over all time."""
        return self._tally.abstained

    @property
    def hits(self) -> tuple[NDArray[Any], float]:
        """int64[M], events predicted right over all time, and the number of those that were counted."""
        return self.correct, self.events

    def p_value(self, first: int, second: int) -> float:
        """Of McNemar's test on two predictors."""
        return p_value(self.only, first, second)

    @property
    def window(self) -> Window:
        """The last labelled events, or their tokens."""
        return self._tally.window()

    @property
    def leader(self) -> int | None:
        """The learner that was right most often over all time; None where nothing was counted."""
        return self._tally.leader(self.n_learners)

    @cached_property
    def accuracy(self) -> NDArray[np.float64]:
        """float64[M], by weight; NaN where nothing was counted."""
        tally = self._tally
        return {"running": tally.running, "window": tally.windowed, "fading": tally.faded}[self.span]()

    @property
    def majority_accuracy(self) -> np.float64:
        """Of the baseline that predicts the most frequent label."""
        accuracy: np.float64 = self.accuracy[self.n_learners + MAJORITY]
        return accuracy

    @property
    def no_change_accuracy(self) -> np.float64:
        """Of the baseline that predicts the last label."""
        accuracy: np.float64 = self.accuracy[self.n_learners + NO_CHANGE]
        return accuracy

    @cached_property
    def by_label(self) -> Totals:
        """Weights by label: of true labels, of predictions, and of hits."""
        sums = self._label_sums
        if self.span == "window":
            return sums.windowed(self._tally.window())
        return sums.faded() if self.span == "fading" else sums.running()

    @cached_property
    def only(self) -> NDArray[np.int64]:
        """int64[M, M], events that the first predictor got right and the second one wrong; not for the fading span."""
        return self._pairs.windowed(self._tally.window()) if self.span == "window" else self._pairs.only

    @property
    def sentence_tally(self) -> SentenceTally:
        """The counts of taggers."""
        assert isinstance(self._tally, SentenceTally)
        return self._tally

    @cached_property
    def sentences(self) -> SentenceTotals:
        """Sums over sentences; only of taggers."""
        return self.sentence_tally.totals(self.span)

    @cached_property
    def losses(self) -> Losses:
        """The learners' sums of losses, and their bins of confidence; not of taggers."""
        calibration = self._calibration
        assert calibration is not None
        if self.span == "window":
            return calibration.windowed(self._tally.window())
        return calibration.faded() if self.span == "fading" else calibration.running()
