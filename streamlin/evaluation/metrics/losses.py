"""How good the learners' probabilities are.

For weight w, true label y, probabilities p of an event, and its top label's, which is the confidence c; h is 1 for a
hit, else 0::

    log loss   sum w (-log max(p_y, 1e-15)) / sum w
    Brier      sum w sum_k (p_k - [k = y])^2 / sum w
    ECE        sum_b |sum_b w c - sum_b w h| / sum w,   over 10 bins b of confidence

Brier, Monthly Weather Review 78 (1950) 1-3; Guo et al., ICML 34 (2017) 1321-1330, for the expected calibration error.
Labels and events without a probability: `streamlin.evaluation.calibration`.
"""

from streamlin.evaluation.calibration import quotient
from streamlin.evaluation.metric import Metric
from streamlin.evaluation.spans import Sums


class LogLoss(Metric):
    """0 at best; 34.5 for an event whose label has no probability."""

    name = "log_loss"
    title = "log loss"
    meaning = "Mean negative logarithm of the true label's probability."
    smaller_is_better = True
    lean_spans = ("running",)
    page = {"chosen": 70}
    prometheus = {"learners": "learner_log_loss"}

    def compute(self, sums: Sums) -> list[float | None]:
        return [quotient(log_loss, total) for total, log_loss, _ in sums.losses.sums.tolist()]


class Brier(Metric):
    """0 at best, 2 at worst, 1 for an abstention."""

    name = "brier"
    title = "Brier"
    meaning = "Mean squared difference between probabilities and what was true."
    smaller_is_better = True
    lean_spans = ("running",)

    def compute(self, sums: Sums) -> list[float | None]:
        return [quotient(brier, total) for total, _, brier in sums.losses.sums.tolist()]


class CalibrationError(Metric):
    """Expected calibration error; an event without a confidence is in no bin and does not count."""

    name = "ece"
    title = "ECE"
    meaning = "Expected calibration error: how far confidence is from accuracy."
    smaller_is_better = True
    lean_spans = ("running",)
    page = {"chosen": 80}
    prometheus = {"learners": "learner_ece_ratio"}

    def compute(self, sums: Sums) -> list[float | None]:
        return [
            quotient(sum(abs(sure - hits) for _, sure, hits in bins), sum(weight for weight, _, _ in bins))
            for bins in sums.losses.bins.tolist()
        ]
