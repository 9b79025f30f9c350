"""Whether the leader is better than a predictor, or was luckier: the p-value of McNemar's test.

The formula and its sources: `streamlin.evaluation.mcnemar`.
"""

from streamlin.evaluation.metric import Metric
from streamlin.evaluation.spans import Sums


class LeaderP(Metric):
    """Against the learner that was right most often; None for that learner, and while nothing was counted."""

    name = "leader_p"
    title = "p"
    meaning = "How likely so uneven counts are if the best is no better: McNemar's test, or of sentences the sign test."
    format = "probability"
    spans = ("running", "window")
    page = {"running": 90}

    def compute(self, sums: Sums) -> list[float | None]:
        leader, predictors = sums.leader, range(sums.correct.size)
        return [None if leader is None or leader == m else sums.p_value(leader, m) for m in predictors]
