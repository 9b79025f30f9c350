"""For each key and learner a race of the shared model and the key's own, which answers only while it is ahead.

Both predict every event of the key from before it is learned. With w the weight of a labelled event::

    d    = [own is right] - [shared is right]
    S   += w d,   Q += (w d)^2

The key's own model answers while S > sqrt Q, as in `streamlin.learners.race`. With weights of 1, S / sqrt Q is
McNemar's statistic (Psychometrika 12 (1947) 153-157): of the events on which just one of the two is right, S is by how
many more own was, and Q their number. Hits are compared and no log losses, since the two may have different labels. An
event for which one of the two has no candidate says nothing.
"""

import math

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.kernel.unowned import unowned


@kernel
def answer(
    own: NDArray[np.float64],
    known: NDArray[np.int64],
    order: NDArray[np.int64],
    slots: NDArray[np.int32],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    code_of: NDArray[np.int32],
    shared: bool,
    leads: NDArray[np.float64],
    squares: NDArray[np.float64],
    own_hits: NDArray[np.float64],
    shared_hits: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    """Replace the shared model's scores float64[events, n_labels] by those of the key's own where that answers.

    own float64[n, width], known int64[n] : scores of n of the events by the labels of their keys, and how many these
        are. code_of int32[slots, width] : their codes.
    order int64[n] : which events these are. slots, codes int32[n], weights [n] : theirs; code -1 without a label.
    shared : whether there is a race. leads, squares, own_hits, shared_hits [slots] : changed in place.
    """
    own_scores, codes_of, answers_to = unowned(own), unowned(code_of), unowned(scores)
    for i in range(slots.size):
        s, y, answers_of = slots[i], codes[i], answers_to[order[i]]
        best, guess = best_of(own_scores[i], known[i]), best_of(answers_of, answers_of.size)
        says = -1 if best < 0 else np.int64(codes_of[s, best])
        answers = best >= 0 and (not shared or leads[s] > math.sqrt(squares[s]))
        if y >= 0:
            own_hits[s] += weights[i] * (says == y)
            shared_hits[s] += weights[i] * (guess == y)
            if best >= 0 and guess >= 0:
                gain = weights[i] * (np.float64(says == y) - np.float64(guess == y))
                leads[s] += gain
                squares[s] += gain * gain
        if answers:
            give(own_scores[i], known[i], best, codes_of[s], answers_of)


@kernel
def best_of(scores: NDArray[np.float64], n: int) -> int:
    """The first of the best of n scores; -1 if there is none above -inf."""
    best, top = -1, -np.inf
    for k in range(n):
        if scores[k] > top:
            best, top = k, scores[k]
    return best


@kernel
def give(
    own: NDArray[np.float64], known: int, best: int, code_of: NDArray[np.int32], scores: NDArray[np.float64]
) -> None:
    """Set scores by the run's codes of labels from those by a key's; -inf for labels that were never seen with the key.

    Of equal scores the label that the key saw first must win, and not the one that the run saw first: where these are
    different ones, the score of the former is raised by one unit in the last place.
    """
    scores[:] = -np.inf
    for k in range(known):
        scores[code_of[k]] = own[k]
    if best_of(scores, scores.size) != code_of[best]:
        scores[code_of[best]] = np.nextafter(own[best], np.inf)


@kernel
def with_all_candidates(scores: NDArray[np.float64], known: NDArray[np.int64]) -> None:
    """Give labels that were never seen with a key a score, for mixtures; scores float64[M, n, n_labels], in place.

    It is as far below the lowest score as that is below the highest; 1 below the only one. known : int64[n], how many
    labels are candidates.
    """
    for m in range(scores.shape[0]):
        for i in range(known.size):
            lowest, highest, missing = np.inf, -np.inf, False
            for k in range(known[i]):
                if scores[m, i, k] == -np.inf:
                    missing = True
                else:
                    lowest, highest = min(lowest, scores[m, i, k]), max(highest, scores[m, i, k])
            if not missing or highest == -np.inf:
                continue
            floor = lowest - (highest - lowest if highest > lowest else 1.0)
            for k in range(known[i]):
                if scores[m, i, k] == -np.inf:
                    scores[m, i, k] = floor
