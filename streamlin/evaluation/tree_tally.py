"""Counts of brackets and hits of several parsers, as those of taggers.

Black et al., "A procedure for quantitatively comparing the syntactic coverage of English grammars", HLT 1991, for
brackets; Collins, Sekine, evalb (1997).
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.curve import POINTS, is_point_due
from streamlin.evaluation.sentence_tally import (
    PREDICTED_SPANS,
    RIGHT,
    RIGHT_SPANS,
    SENTENCES,
    SPANS,
    TOKENS,
    SentenceTally,
    add_sentence,
    add_sentence_point,
    set_its,
    set_theirs,
)
from streamlin.kernel import kernel

COVERED = 5
"""What a predictor makes of a sentence, behind the columns of `sentence_tally`: 1 if it has a tree of the whole."""


class TreeCounts(NamedTuple):
    """Brackets of n sentences: of the true trees float64[n]; of M predictors float64[n, M], how many were predicted and
    how many of these are right, and, as 1 or 0, whether all are, and whether the sentence is covered."""

    true: NDArray[np.float64]
    predicted: NDArray[np.float64]
    right: NDArray[np.float64]
    exact: NDArray[np.float64]
    covered: NDArray[np.float64]

    @classmethod
    def empty(cls, n: int, predictors: int) -> "TreeCounts":
        """Nothing counted."""
        return cls(np.zeros(n), *(np.zeros((n, predictors)) for _ in range(4)))

    def set(self, i: int, m: int, true: Sequence[tuple[str, int, int]], found: Sequence[tuple[str, int, int]]) -> None:
        """Count the brackets, each a label and its words, of sentence i and what predictor m says of it.

        A bracket without a label does not count; one that is there twice may be found twice.
        """
        wanted, got = (Counter(bracket for bracket in brackets if bracket[0]) for brackets in (true, found))
        self.true[i], self.predicted[i, m], self.right[i, m] = wanted.total(), got.total(), (wanted & got).total()
        self.exact[i, m] = wanted == got


class TreeTally(SentenceTally):
    """Brackets, and accuracy of tags, of M predictors; sentences without a tree or of weight 0 change nothing.

    The columns SPANS, PREDICTED_SPANS and RIGHT_SPANS are of brackets, RIGHT of trees with all brackets right. The
    predictor of the best F1 leads.
    """

    def __init__(self, predictors: int, window: int = 1000, fading: float = 0.999, points: int = POINTS) -> None:
        super().__init__(predictors, window, fading, points)
        self.own, self.window_own = np.zeros((2, predictors, 6)), np.zeros((window, predictors, 6))

    @property
    def hit_weights(self) -> NDArray[np.float64]:
        """float64[M]: F1 over all time."""
        own, shared = self.own[0], self.shared[0]
        f1: NDArray[np.float64] = (
            2.0 * own[:, RIGHT_SPANS] / np.maximum(own[:, PREDICTED_SPANS] + shared[SPANS], 1e-300)
        )
        return f1

    def leader(self, n_learners: int) -> int | None:
        """Which of the first `n_learners` predictors has the best F1; the first of several."""
        return int(self.hit_weights[:n_learners].argmax()) if self.count[0] else None

    def update_trees(
        self,
        predicted: NDArray[np.int32],
        codes: NDArray[np.int32],
        known: NDArray[np.bool_],
        bounds: NDArray[np.int64],
        weights: NDArray[np.float64],
        leaders: int,
        trees: TreeCounts,
    ) -> NDArray[np.int32]:
        """`update`, with the brackets of each sentence."""
        lead, lengths = np.empty(weights.size, np.int32), np.zeros(weights.size, np.int64)
        tally_trees(
            np.ascontiguousarray(predicted),
            codes,
            known,
            bounds,
            weights,
            leaders,
            self.fading,
            trees,
            self.shared,
            self.own,
            self.squares,
            self.correct,
            self.abstained,
            self.count,
            self.window_shared,
            self.window_own,
            self.progress,
            self.points,
            lengths,
            lead,
        )
        self.add_tokens(predicted, codes, bounds, weights, lengths)
        return lead


@kernel
def tally_trees(
    predicted: NDArray[np.int32],
    codes: NDArray[np.int32],
    known: NDArray[np.bool_],
    bounds: NDArray[np.int64],
    weights: NDArray[np.float64],
    leaders: int,
    fading: float,
    trees: TreeCounts,
    shared: NDArray[np.float64],
    own: NDArray[np.float64],
    squares: NDArray[np.float64],
    correct: NDArray[np.int64],
    abstained: NDArray[np.int64],
    count: NDArray[np.int64],
    window_shared: NDArray[np.float64],
    window_own: NDArray[np.float64],
    progress: NDArray[np.int64],
    points: NDArray[np.float64],
    lengths: NDArray[np.int64],
    lead: NDArray[np.int32],
) -> None:
    """Count a batch, sentence by sentence, as `tally_sentences`."""
    its, theirs = np.zeros(4), np.zeros((predicted.shape[0], COVERED + 1))
    for i in range(weights.size):
        lead[i] = 0
        for m in range(1, leaders):  # 2 R / (P + T), the same T for all
            best = lead[i]
            mine = own[0, m, RIGHT_SPANS] * (own[0, best, PREDICTED_SPANS] + shared[0, SPANS])
            if mine > own[0, best, RIGHT_SPANS] * (own[0, m, PREDICTED_SPANS] + shared[0, SPANS]):
                lead[i] = m
        begin, end = bounds[i], bounds[i + 1]
        set_its(codes, known, begin, end, its)
        if its[TOKENS] == 0.0 or weights[i] <= 0.0:
            continue
        lengths[i] = np.int64(its[TOKENS])
        its[SENTENCES], its[SPANS] = 1.0, trees.true[i]
        for m in range(predicted.shape[0]):
            abstained[m] += set_theirs(predicted[m], codes, known, begin, end, theirs[m])
            theirs[m, RIGHT], theirs[m, COVERED] = trees.exact[i, m], trees.covered[i, m]
            theirs[m, PREDICTED_SPANS], theirs[m, RIGHT_SPANS] = trees.predicted[i, m], trees.right[i, m]
        add_sentence(its, theirs, weights[i], fading, shared, own, squares, correct, count, window_shared, window_own)
        if is_point_due(progress, count[0]):
            add_sentence_point(shared, own, window_shared, window_own, progress, points)
