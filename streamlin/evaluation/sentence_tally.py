"""Counts of hits of several taggers: over all time, over a window of sentences, and fading sentence by sentence.

Gama, Sebastião, Rodrigues, Machine Learning 90 (2013) 317-346, for the window and the fading factor. Tokens of one
sentence are right or wrong together, so a sentence is the unit of windows, fading, intervals and tests.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.array_state import ArrayState
from streamlin.evaluation.curve import COUNT, POINTS, events_of, is_point_due, is_progress, keep_point, new_progress
from streamlin.evaluation.tag_spans import SpanTags, count_spans
from streamlin.evaluation.token_window import TokenWindow
from streamlin.evaluation.window import Window
from streamlin.kernel import kernel

TOKENS, KNOWN, SENTENCES, SPANS = range(4)
"""What a sentence has: labelled tokens; those whose word was learned before; 1 if all are labelled; its spans."""
HITS, KNOWN_HITS, RIGHT, PREDICTED_SPANS, RIGHT_SPANS = range(5)
"""What a predictor makes of it: tokens right; known ones right; 1 if all are; spans predicted; spans right."""
NO_SPANS = SpanTags(np.zeros(0, np.uint8), np.zeros(0, np.int32))


class SentenceTotals(NamedTuple):
    """Sums by weight over some sentences. shared : float64[4], of TOKENS, …. own : float64[M, 5], of HITS, …."""

    shared: NDArray[np.float64]
    own: NDArray[np.float64]


class SentenceTally(ArrayState):
    """Token accuracy of M predictors; sentences without a tag or of weight 0 change nothing.

    For h of a sentence's n labelled tokens right, and its weight w::

        running   sum w h / sum w n
        window    the same over the last `window` labelled sentences
        fading    S <- w h + fading S,   N <- w n + fading N,   S / N

    Its interface is that of `streamlin.evaluation.tally.Tally`; `count` counts labelled sentences, `correct` tokens.

    shared float64[2, 4], own float64[2, M, 5] : the running and the fading sums. squares : float64[M, 3], the sums of
    h^2, h n and n^2, weights aside. window_shared float64[window, 4], window_own float64[window, M, 5] : rings.
    tokens : those of the window, which keep arrays of their own.
    """

    arrays = (
        *("shared", "own", "squares", "correct", "abstained", "count", "window_shared", "window_own"),
        *("progress", "points"),
    )

    def __init__(self, predictors: int, window: int = 1000, fading: float = 0.999, points: int = POINTS) -> None:
        self.fading = fading
        self.shared, self.own = np.zeros((2, 4)), np.zeros((2, predictors, 5))
        self.squares = np.zeros((predictors, 3))
        self.correct = np.zeros(predictors, np.int64)
        self.abstained = np.zeros(predictors, np.int64)
        self.count = np.zeros(2, np.int64)
        self.window_shared, self.window_own = np.zeros((window, 4)), np.zeros((window, predictors, 5))
        self.progress = new_progress(points)
        self.points = np.zeros((points, 2, predictors))
        self.tokens = TokenWindow(window, predictors)

    def update(
        self,
        predicted: NDArray[np.int32],
        codes: NDArray[np.int32],
        known: NDArray[np.bool_],
        bounds: NDArray[np.int64],
        weights: NDArray[np.float64],
        leaders: int,
        span_tags: SpanTags | None,
    ) -> NDArray[np.int32]:
        """Count a batch of n sentences of m tokens.

        predicted int32[M, m]: codes, -1 for an abstention. codes int32[m]: -1 where the tag is unknown. known bool[m]:
        whether the token's word was learned in a sentence before. bounds int64[n + 1]. weights float64[n].
        Returns int32[n]: which of the first `leaders` predictors had the best running accuracy before each sentence;
        ties go to the first.
        """
        lead = np.empty(weights.size, np.int32)
        lengths = np.zeros(weights.size, np.int64)
        spans = NO_SPANS if span_tags is None else span_tags
        tally_sentences(
            np.ascontiguousarray(predicted),
            codes,
            known,
            bounds,
            weights,
            leaders,
            self.fading,
            spans.kinds,
            spans.types,
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

    def add_tokens(
        self,
        predicted: NDArray[np.int32],
        codes: NDArray[np.int32],
        bounds: NDArray[np.int64],
        weights: NDArray[np.float64],
        lengths: NDArray[np.int64],
    ) -> None:
        """Add the labelled tokens of a batch to those of the window. lengths int64[n] : how many count, by sentence."""
        token_weights = np.repeat(weights, np.diff(bounds))
        counted = (codes >= 0) & (token_weights > 0)
        self.tokens.add(predicted[:, counted], codes[counted], token_weights[counted], lengths[lengths > 0])

    def is_consistent(self) -> bool:
        """See `ArrayState`."""
        sentences, tokens = self.count.tolist()
        counted = max(self.correct.max(initial=0), self.abstained.max(initial=0)) <= tokens and sentences <= tokens
        return bool(counted) and is_progress(self.progress, len(self.points))

    @property
    def hit_weights(self) -> NDArray[np.float64]:
        """float64[M]."""
        hits: NDArray[np.float64] = self.own[0, :, HITS]
        return hits

    def totals(self, span: str) -> SentenceTotals:
        """The sums over a span."""
        if span == "window":
            return SentenceTotals(self.window_shared.sum(axis=0), self.window_own.sum(axis=0))
        number = 1 if span == "fading" else 0
        return SentenceTotals(self.shared[number], self.own[number])

    def running(self) -> NDArray[np.float64]:
        """float64[M]; NaN while nothing was counted."""
        return _accuracy(self.totals("running"))

    def windowed(self) -> NDArray[np.float64]:
        """float64[M]; NaN while nothing was counted."""
        return _accuracy(self.totals("window"))

    def faded(self) -> NDArray[np.float64]:
        """float64[M]; NaN while nothing was counted."""
        return _accuracy(self.totals("fading"))

    def window(self) -> Window:
        """The labelled tokens of the last labelled sentences; not copied."""
        return self.tokens.window()

    def window_hits(self) -> NDArray[np.float64]:
        """float64[n, M]: the tokens right in each sentence of the window."""
        n = min(int(self.count[0]), self.window_own.shape[0])
        hits: NDArray[np.float64] = self.window_own[:n, :, HITS]
        return hits

    def curve(self) -> tuple[list[int], NDArray[np.float64]]:
        """Numbers of labelled sentences, and float64[points, 2, M]: running and windowed accuracy after each."""
        events = events_of(self.progress)
        return events, self.points[: len(events)]

    def leader(self, n_learners: int) -> int | None:
        """Which of the first `n_learners` predictors had most tokens right, weights aside; the first of several."""
        return int(self.correct[:n_learners].argmax()) if self.count[0] else None


def _accuracy(totals: SentenceTotals) -> NDArray[np.float64]:
    tokens = totals.shared[TOKENS]
    return totals.own[:, HITS] / tokens if tokens > 0 else np.full(totals.own.shape[0], np.nan)


@kernel
def tally_sentences(
    predicted: NDArray[np.int32],
    codes: NDArray[np.int32],
    known: NDArray[np.bool_],
    bounds: NDArray[np.int64],
    weights: NDArray[np.float64],
    leaders: int,
    fading: float,
    kinds: NDArray[np.uint8],
    types: NDArray[np.int32],
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
    """Count a batch, sentence by sentence; see `SentenceTally`.

    count int64[2] : labelled sentences, labelled tokens. lengths int64[n] : set to the labelled tokens that count.
    """
    size = predicted.shape[0]
    found, its, theirs = np.zeros(3, np.int64), np.zeros(4), np.zeros((size, 5))
    for i in range(weights.size):
        best = 0
        for m in range(1, leaders):
            if own[0, m, HITS] > own[0, best, HITS]:
                best = m
        lead[i] = best
        begin, end = bounds[i], bounds[i + 1]
        set_its(codes, known, begin, end, its)
        if its[TOKENS] == 0.0 or weights[i] <= 0.0:
            continue
        lengths[i] = np.int64(its[TOKENS])
        whole = its[TOKENS] == end - begin
        its[SENTENCES], its[SPANS] = np.float64(whole), 0.0
        for m in range(size):
            abstained[m] += set_theirs(predicted[m], codes, known, begin, end, theirs[m])
            theirs[m, RIGHT] = np.float64(whole and theirs[m, HITS] == its[TOKENS])
            if whole and kinds.size:
                count_spans(codes[begin:end], predicted[m, begin:end], kinds, types, found)
                its[SPANS] = found[0]
                theirs[m, PREDICTED_SPANS], theirs[m, RIGHT_SPANS] = found[1], found[2]
        add_sentence(its, theirs, weights[i], fading, shared, own, squares, correct, count, window_shared, window_own)
        if is_point_due(progress, count[0]):
            add_sentence_point(shared, own, window_shared, window_own, progress, points)


@kernel
def add_sentence(
    its: NDArray[np.float64],
    theirs: NDArray[np.float64],
    w: float,
    fading: float,
    shared: NDArray[np.float64],
    own: NDArray[np.float64],
    squares: NDArray[np.float64],
    correct: NDArray[np.int64],
    count: NDArray[np.int64],
    window_shared: NDArray[np.float64],
    window_own: NDArray[np.float64],
) -> None:
    """Add a sentence of weight w to all sums. its float64[4], of TOKENS, …; theirs float64[M, columns], of HITS, …."""
    for m in range(theirs.shape[0]):
        hits = theirs[m, HITS]
        correct[m] += np.int64(hits)
        squares[m, 0] += hits * hits
        squares[m, 1] += hits * its[TOKENS]
        squares[m, 2] += its[TOKENS] * its[TOKENS]
    slot = count[0] % window_shared.shape[0]
    count[0] += 1
    count[1] += np.int64(its[TOKENS])
    for c in range(4):
        window_shared[slot, c] = w * its[c]
        shared[0, c] += w * its[c]
        shared[1, c] = w * its[c] + fading * shared[1, c]
    for m in range(theirs.shape[0]):
        for c in range(theirs.shape[1]):
            window_own[slot, m, c] = w * theirs[m, c]
            own[0, m, c] += w * theirs[m, c]
            own[1, m, c] = w * theirs[m, c] + fading * own[1, m, c]


@kernel
def set_its(codes: NDArray[np.int32], known: NDArray[np.bool_], begin: int, end: int, its: NDArray[np.float64]) -> None:
    """Set the numbers of a sentence's labelled tokens, and of those with known words."""
    its[:] = 0.0
    for t in range(begin, end):
        if codes[t] >= 0:
            its[TOKENS] += 1.0
            its[KNOWN] += known[t]


@kernel
def set_theirs(
    predicted: NDArray[np.int32],
    codes: NDArray[np.int32],
    known: NDArray[np.bool_],
    begin: int,
    end: int,
    theirs: NDArray[np.float64],
) -> int:
    """Set the numbers of tokens a predictor got right; returns that of tokens without a prediction."""
    theirs[:] = 0.0
    silent = 0
    for t in range(begin, end):
        if codes[t] >= 0:
            hit = predicted[t] == codes[t]
            theirs[HITS] += hit
            theirs[KNOWN_HITS] += hit and known[t]
            silent += predicted[t] == -1
    return silent


@kernel
def add_sentence_point(
    shared: NDArray[np.float64],
    own: NDArray[np.float64],
    window_shared: NDArray[np.float64],
    window_own: NDArray[np.float64],
    progress: NDArray[np.int64],
    points: NDArray[np.float64],
) -> None:
    """As `streamlin.evaluation.curve.add_point`."""
    n = progress[COUNT]
    tokens = 0.0
    for slot in range(window_shared.shape[0]):
        tokens += window_shared[slot, TOKENS]
    for m in range(own.shape[1]):
        hits = 0.0
        for slot in range(window_own.shape[0]):
            hits += window_own[slot, m, HITS]
        points[n, 0, m] = own[0, m, HITS] / shared[0, TOKENS]
        points[n, 1, m] = hits / tokens
    keep_point(progress, points)
