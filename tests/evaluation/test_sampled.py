"""What is counted besides where only a sample of the events gets labels."""

from math import erfc, sqrt

import numpy as np
from numpy.testing import assert_allclose

from streamlin.config import EvaluationConfig
from streamlin.evaluation.prequential import Prequential
from streamlin.evaluation.report import report_of
from streamlin.evaluation.sampled import Sample, Sampled, WeightedPairs
from streamlin.evaluation.wilson import wilson
from streamlin.events import LabelIndex


def counted(rows, window=1000, size=100):
    """A run of two learners over (label, weights, predicted by each): scores are 1 for what is predicted."""
    labels = LabelIndex(["a", "b"])
    prequential = Prequential(["one", "two"], EvaluationConfig(window=window, drift="none"), sampled=True)
    for begin in range(0, max(len(rows), 1), size):
        part = rows[begin : begin + size]
        codes = np.array([code for code, *_ in part], np.int32)
        own, stands_for = (np.array([row[i] for row in part], np.float64) for i in (1, 2))
        scores = np.eye(2)[np.array([row[3] for row in part], np.int64).reshape(-1, 2).T]
        sample = Sample(codes, own, np.zeros(len(part)))
        measured = np.where(stands_for > 0, codes, -1).astype(np.int32)
        prequential.predict_and_count(scores, measured, own * stands_for, labels, {}, sample=sample)
    return prequential, labels


def test_by_hand():
    """Weights by 1/probability 1, 1, 1, 10; hits of one 1, 0, 0, 1; of two 0, 1, 0, 0; the fifth was not asked for.

    one: accuracy (1 + 10) / 13, unweighted 2/4 and with the fifth 3/5;   two: 1/13 and 1/5
    effective events: 13^2 / (1 + 1 + 1 + 100) = 1.641
    p: only one was right with weights 1 and 10, only two with 1: z = (11 - 1) / sqrt(1 + 100 + 1) = 0.990
    """
    rows = [
        (0, 1.0, 1.0, (0, 1)),
        (0, 1.0, 1.0, (1, 0)),
        (0, 1.0, 1.0, (1, 1)),
        (1, 1.0, 10.0, (1, 0)),
        (1, 1.0, 0.0, (1, 0)),
    ]
    prequential, labels = counted(rows)
    report = report_of(prequential, labels)
    one, two = (report["learners"][name] for name in ("one", "two"))
    assert_allclose([one["accuracy"], two["accuracy"]], [11 / 13, 1 / 13])
    assert_allclose([one["raw_accuracy"], two["raw_accuracy"]], [3 / 5, 1 / 5])
    assert one["correct"] == 2
    effective = 169 / 103
    assert_allclose(one["interval"], wilson(11 / 13 * effective, effective))
    assert report["leader"] == "one"
    assert_allclose(two["leader_p"], erfc(10 / sqrt(102) / sqrt(2)))
    (pair,) = [pair for pair in report["pairs"] if (pair["first"], pair["second"]) == ("one", "two")]
    assert (pair["only_first"], pair["only_second"]) == (2, 1)
    assert pair["p"] == two["leader_p"]
    # the majority, by weight, is right at events 2, 3 and 5: c = 3/5
    assert_allclose([one["raw"]["kappa_m"], two["raw"]["kappa_m"]], [0.0, -1.0], atol=1e-12)


def test_pairs_equal_a_plain_sum_also_over_the_window():
    random = np.random.default_rng(1)
    rows = [
        (
            int(random.integers(2)),
            float(random.choice([0.5, 1, 2])),
            float(random.choice([0, 1, 20])),
            random.integers(0, 2, 2),
        )
        for _ in range(500)
    ]
    prequential, _ = counted(rows, window=70, size=33)
    again, _ = counted(rows, window=70, size=1)
    stood = [(code, w * times, guess) for code, w, times, guess in rows if times]
    for span, part in (("running", stood), ("window", stood[-70:])):
        only = [[w for code, w, guess in part if guess[a] == code != guess[1 - a]] for a in (0, 1)]
        z = (sum(only[0]) - sum(only[1])) / sqrt(sum(w * w for own in only for w in own))
        assert_allclose(prequential.sums(span).p_value(0, 1), erfc(abs(z) / sqrt(2)), rtol=1e-9)
        assert prequential.sums(span).p_value(0, 1) == again.sums(span).p_value(0, 1)


def test_nothing_counted_has_no_interval_and_no_leader():
    prequential, labels = counted([])
    report = report_of(prequential, labels)
    assert report["leader"] is None
    assert report["learners"]["one"]["interval"] is None
    assert report["learners"]["one"]["raw_accuracy"] is None
    assert WeightedPairs(2).effective == 0.0
    assert Sampled(2, EvaluationConfig()).raw.leader(2) is None
