"""Naive Bayes that also counts texts without a label, as far as it believes to know them.

Nigam, McCallum, Thrun, Mitchell, Machine Learning 39 (2000) 103-134, for EM with naive Bayes and unlabelled events of
less weight; here in one pass, with a cap for each label, and raced against counts of labelled events alone.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.features.rows import Examples, prefetch_rows
from streamlin.kernel import kernel
from streamlin.kernel.bound_arguments import BoundTuple
from streamlin.kernel.late import late_kernel
from streamlin.learners.collapse import PULSE, collapsed
from streamlin.learners.forgetting import GROWN, scale_down, scale_down_row
from streamlin.learners.likelihoods import add_priors, smooth, sum_of_logs
from streamlin.learners.linear import best_other
from streamlin.learners.race import count_race, second_answers
from streamlin.learners.step import best_score, set_targets
from streamlin.learners.targets import UNLABELLED, Targets

WITHOUT_ANY_LABEL = 0.1
"""The weight of a text while no event was labelled: words set by hand then say what labels mean, and no race can."""
_NEGLIGIBLE = 1e-6
"""Smaller probabilities of a label are not counted: most are, and each would be written to every feature's row."""

Arrays = tuple[NDArray[np.float64], ...]


@late_kernel
def learn_batch_softly(
    indptr: NDArray[np.int64],
    rows: NDArray[np.int32],
    values: NDArray[np.float32],
    rows_before: NDArray[np.int64],
    codes: NDArray[np.int32],
    n_known: NDArray[np.int64],
    event_weights: NDArray[np.float64],
    caps: NDArray[np.float64],
    alpha: float,
    rate: float,
    reset: float,
    counts: Arrays,
    totals: Arrays,
    soft_events: Arrays,
    leads: Arrays,
    lead_squares: Arrays,
    events: NDArray[np.float64],
    n: NDArray[np.float64],
    growth: NDArray[np.float64],
    late_hits: NDArray[np.float64],
    late: NDArray[np.float64],
    long_hits: NDArray[np.float64],
    long: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    """Score, then learn, event by event, C + 1 models: one from labels alone, and one for each of C caps.

    counts [C + 1] of [n_rows, n_labels], totals [C + 1] of [n_labels] : as `naive_bayes.learn_batch` has them, those of
    the model from labels alone first. soft_events [C] of [n_labels] : U_k. leads, lead_squares [C] of [] : the races,
    each of a model with the one before it. The others are those of `naive_bayes.learn_batch`.

    Before the first event without a label all models would be the same, so only the first one is kept: a stream where
    every event has its label is as fast as with one model.
    """
    examples, targets = Examples(indptr, rows, values, rows_before), Targets(codes, n_known, event_weights)
    n_labels, n_models = scores.shape[1], caps.size + 1
    inverses, offsets, products = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels)
    own, shares = np.empty((n_models, n_labels)), np.empty(n_labels)
    for i in range(targets.codes.size):
        known, y, w = targets.known[i], targets.codes[i], targets.weights[i]
        u = float(np.exp2(growth[()]))
        log_n = np.log(n[()] + max(known, 1) * u)
        n_kept = n_models if have_begun(soft_events[0]) else 1
        for m in range(n_kept):
            prefetch_rows(examples, i + 1, counts[m])
            most = smooth(True, alpha * u, totals[m], known, examples.rows_before[i], inverses, offsets)
            mass = sum_of_logs(examples, i, counts[m], known, most, inverses, products, own[m])
            add_priors(events, u, log_n, mass, offsets, known, own[m])
        scores[i] = own[answering(leads, lead_squares, n) if n_kept > 1 else 0]
        if y == UNLABELLED:
            for m in range(1, n_models):
                if n_kept == 1:
                    counts[m][: examples.rows_before[i]] = counts[0][: examples.rows_before[i]]
                    totals[m][:] = totals[0]
                    own[m] = own[0]
                soft_shares(own[m], known, w, caps[m - 1], events, n, soft_events[m - 1], u, shares)
                add_shares(examples, i, shares, known, counts[m], totals[m])
        if y < 0:
            continue
        for m in range(1, n_kept):
            count_race(own[m - 1], own[m], known, y, w, leads[m - 1], lead_squares[m - 1])
        watched = reset > 0.0 and y < known
        if watched and collapsed(best_other(scores[i], -1) == y, w, reset, late_hits, late, long_hits, long):
            growth[()] += PULSE
            u = float(np.exp2(growth[()]))
        for m in range(n_kept):
            for j in range(examples.indptr[i], examples.indptr[i + 1]):
                added = u * (w * examples.values[j])
                counts[m][examples.rows[j], y] += added
                totals[m][y] += added
        events[y] += u * w
        n[()] += u * w
        growth[()] += rate
        if growth[()] >= GROWN:
            growth[()] -= GROWN
            for m in range(n_kept):
                scale_down(counts[m])
                scale_down_row(totals[m])
            for m in range(1, n_kept):
                scale_down_row(soft_events[m - 1])
            scale_down_row(events)
            n[()] = np.ldexp(n[()], -64)


@kernel
def learn_event_softly(event: BoundTuple, code: int, known: int, weight: float) -> int:
    """`learn_batch_softly` for one event; see `Step`."""
    set_targets(event, code, known, weight)
    learn_batch_softly(*event.items)
    return best_score(event)


@kernel
def have_begun(soft_events: NDArray[np.float64]) -> bool:
    """Whether a text without a label was learned; soft_events [n_labels] : U_k of any of the models."""
    k = 0
    while k < soft_events.size and not soft_events[k] > 0.0:
        k += 1
    return k < soft_events.size


@kernel
def answering(leads: Arrays, squares: Arrays, n: NDArray[np.float64]) -> int:
    """The number of the model that answers: the last one of those that each beat the one before.

    n [] : the weight of all labelled events. While it is 0 no race was run, and the last model answers.
    """
    m = 0
    while m < len(leads) and (n[()] == 0.0 or second_answers(leads[m], squares[m])):
        m += 1
    return m


@kernel
def soft_shares(
    scores: NDArray[np.float64],
    known: int,
    weight: float,
    cap: float,
    events: NDArray[np.float64],
    n: NDArray[np.float64],
    soft_events: NDArray[np.float64],
    u: float,
    shares: NDArray[np.float64],
) -> None:
    """Set shares[k] to u w min(1, cap n_k / U_k) q_k for q the softmax of the scores, and add it to U_k.

    It is 0 where q_k is negligible, and 0.1 u w q_k while n, the weight of all labelled events, is 0.
    """
    top, total = scores[0], 0.0
    for k in range(known):
        top = max(top, scores[k])
    for k in range(known):
        shares[k] = np.exp(scores[k] - top)
        total += shares[k]
    for k in range(known):
        q = shares[k] / total
        shares[k] = 0.0
        if q > _NEGLIGIBLE:
            room, share = cap * events[k], 1.0
            if n[()] == 0.0:
                share = WITHOUT_ANY_LABEL
            elif soft_events[k] > room:
                share = room / soft_events[k]
            shares[k] = u * (weight * q) * share
            soft_events[k] += shares[k]


@kernel
def add_shares(
    examples: Examples,
    i: int,
    shares: NDArray[np.float64],
    known: int,
    counts: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> None:
    """Add an event to the counts of each label, in shares."""
    for k in range(known):
        if shares[k] > 0.0:
            for j in range(examples.indptr[i], examples.indptr[i + 1]):
                added = shares[k] * examples.values[j]
                counts[examples.rows[j], k] += added
                totals[k] += added
