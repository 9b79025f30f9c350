"""Hidden Markov model, of order 1 or 2, counted online.

Rabiner, Proceedings of the IEEE 77 (1989) 257-286; Brants, ANLP 2000, 224-231, for order 2 and suffixes. Probabilities
are smoothed towards those of shorter contexts, as in MacKay, Peto, Natural Language Engineering 1 (1995) 289-307.
"""

from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.kernel.unowned import hold, unowned
from streamlin.learners.parameters import Positive, checked
from streamlin.tagging.base import Kind, Tagger
from streamlin.tagging.contexts import ContextCounts, count_tag, level_probabilities, set_priors, set_probabilities
from streamlin.tagging.histories import START, learned_pair
from streamlin.tagging.parts import Floats, Parts, Places
from streamlin.tagging.sentences import Sentences, Tagged, TagTargets, known_after, longest
from streamlin.tagging.viterbi import padded

Codes = NDArray[np.int32] | NDArray[np.int_]
MOST = 16
"""Tags of one token that are considered, the most probable ones."""
_SHARE = np.float32(1e-3)
"""A tag is considered if it is at least this probable, beside the most probable one."""
_LOST = 1e-6
"""A history is given up if it is less probable, beside the best one."""
_UNKNOWN = -2
"""Stands for a tag that is not known: what follows it is not counted."""


class Transitions(NamedTuple):
    """How often tag k followed tag j, and the pair (i, j); changed in place. Rows as in `viterbi` and `histories`.

    bigrams float32[tags + 1, tags], bigram_totals float32[tags + 1]; trigrams float32[n_pairs, tags], trigram_totals
    float32[n_pairs]; pair_rows int32[tags + 1, tags + 1]; n_pairs int64[1].
    """

    bigrams: NDArray[np.float32]
    bigram_totals: NDArray[np.float32]
    trigrams: NDArray[np.float32]
    trigram_totals: NDArray[np.float32]
    pair_rows: NDArray[np.int32]
    n_pairs: NDArray[np.int64]


class _Scratch(NamedTuple):
    """priors, p : float32[capacity]. tags, sizes, ratios : the tags considered at each token, int32[longest, MOST] and
    int32[longest], and P(k | word) / P(k), float64[longest, MOST]. best, sums : float64[2, MOST, MOST], of the last two
    tags. back : int32[longest, MOST, MOST].
    """

    priors: NDArray[np.float32]
    p: NDArray[np.float32]
    tags: NDArray[np.int32]
    sizes: NDArray[np.int32]
    ratios: NDArray[np.float64]
    best: NDArray[np.float64]
    sums: NDArray[np.float64]
    back: NDArray[np.int32]


@kernel
def tag_batch(
    sentences: Sentences,
    targets: TagTargets,
    order: int,
    theta: np.float32,
    alpha: float,
    counted: ContextCounts,
    model: Transitions,
    tagged: Tagged,
) -> None:
    """Tag, then count, sentence by sentence."""
    made = new_scratch(longest(sentences), counted.tags.size)
    scratch = unowned(made)
    sentences, targets, counted, model, tagged = unowned((sentences, targets, counted, model, tagged))
    for i in range(sentences.bounds.size - 1):
        begin, end = sentences.bounds[i], sentences.bounds[i + 1]
        if end == begin:
            continue
        if targets.known[i] > 0:
            predict(sentences, i, targets.known[i], order, theta, alpha, counted, model, scratch, tagged)
        if known_after(targets, i, begin, end) > 0:
            learn(sentences, targets, i, order, counted, model)
    hold(made)


@kernel
def new_scratch(most: int, capacity: int) -> _Scratch:
    """Scratch with undefined contents, for sentences of up to `most` tokens."""
    return _Scratch(
        np.empty(capacity, np.float32),
        np.empty(capacity, np.float32),
        np.empty((most, MOST), np.int32),
        np.empty(most, np.int32),
        np.empty((most, MOST)),
        np.empty((2, MOST, MOST)),
        np.empty((2, MOST, MOST)),
        np.empty((most, MOST, MOST), np.int32),
    )


@kernel
def consider(
    sentences: Sentences,
    i: int,
    t: int,
    n_tags: int,
    theta: np.float32,
    counted: ContextCounts,
    scratch: _Scratch,
) -> None:
    """List the tags that are probable enough for the word of a sentence's token t."""
    p, priors = scratch.p, scratch.priors
    set_probabilities(counted, sentences, i, sentences.bounds[i] + t, theta, padded(n_tags), priors, p)
    top = np.float32(0.0)
    for k in range(n_tags):
        top = max(top, p[k])
    least, size = top * _SHARE, MOST + 1
    while size > MOST:  # too many: ask for more
        size = 0
        for k in range(n_tags):
            if p[k] >= least:
                if size < MOST:
                    scratch.tags[t, size] = k
                    scratch.ratios[t, size] = np.float64(p[k]) / np.float64(priors[k])
                size += 1
        if least >= top:  # all of them equally probable: those seen first
            size = min(size, MOST)
        least = min(least * np.float32(2.0), top)
    scratch.sizes[t] = size


@kernel
def transition(
    order: int, alpha: float, n: float, second: int, first: int, k: int, prior: float, model: Transitions
) -> float:
    """P(k | the tags before): trigrams drawn towards bigrams, those towards the tag's own probability."""
    j = first + 1
    p: float = (model.bigrams[j, k] + alpha * prior) / (model.bigram_totals[j] + alpha)
    if order == 2:
        row = model.pair_rows[second + 1, j]
        if row >= 0:
            p = (model.trigrams[row, k] + alpha * p) / (model.trigram_totals[row] + alpha)
    return p


@kernel
def predict(
    sentences: Sentences,
    i: int,
    n_tags: int,
    order: int,
    theta: np.float32,
    alpha: float,
    counted: ContextCounts,
    model: Transitions,
    scratch: _Scratch,
    tagged: Tagged,
) -> None:
    """Set the most probable tags of a sentence, and their probability among all that were considered.

    best[t % 2, a, b] is that of the best tags that end with those numbered a and b at t - 1 and t, `sums` of all of
    them; both are scaled at every token.
    """
    begin, n = sentences.bounds[i], sentences.bounds[i + 1] - sentences.bounds[i]
    set_priors(counted, n_tags, padded(n_tags), scratch.priors)
    n_before, n_second = 1, 1
    scale = 1.0
    for t in range(n):
        consider(sentences, i, t, n_tags, theta, counted, scratch)
        best, sums, old_best, old_sums = (
            scratch.best[t % 2],
            scratch.sums[t % 2],
            scratch.best[(t + 1) % 2],
            scratch.sums[(t + 1) % 2],
        )
        if t == 0:
            old_best[0, 0] = old_sums[0, 0] = 1.0
        top = 0.0
        for a in range(n_before):
            first = scratch.tags[t - 1, a] if t > 0 else START
            for b in range(scratch.sizes[t]):
                k = scratch.tags[t, b]
                prior = np.float64(scratch.priors[k])
                most, total, origin = 0.0, 0.0, 0
                for c in range(n_second):
                    if old_best[c, a] < scale * _LOST:
                        continue
                    second = scratch.tags[t - 2, c] if t > 1 else START
                    p = transition(order, alpha, counted.total[0], second, first, k, prior, model)
                    total += old_sums[c, a] * p
                    if old_best[c, a] * p > most:
                        most, origin = old_best[c, a] * p, c
                best[a, b], sums[a, b] = most * scratch.ratios[t, b], total * scratch.ratios[t, b]
                scratch.back[t, a, b] = origin
                top = max(top, best[a, b])
        for a in range(n_before):
            for b in range(scratch.sizes[t]):
                best[a, b] /= top
                sums[a, b] /= top
        scale, n_second, n_before = 1.0, n_before, scratch.sizes[t]
    trace(i, begin, n, n_second, n_before, scratch, tagged)


@kernel
def trace(i: int, begin: int, n: int, n_second: int, n_before: int, scratch: _Scratch, tagged: Tagged) -> None:
    """Follow the best tags from the last token back."""
    best, sums = scratch.best[(n - 1) % 2], scratch.sums[(n - 1) % 2]
    a, b, total = 0, 0, 0.0
    for c in range(n_second):
        for d in range(n_before):
            total += sums[c, d]
            if best[c, d] > best[a, b]:
                a, b = c, d
    tagged.confidences[i] = best[a, b] / total
    for t in range(n - 1, -1, -1):
        tagged.tags[begin + t] = scratch.tags[t, b]
        a, b = scratch.back[t, a, b], a


@kernel
def learn(
    sentences: Sentences, targets: TagTargets, i: int, order: int, counted: ContextCounts, model: Transitions
) -> None:
    """Count a sentence's tags, and those that follow each other."""
    weight = np.float32(targets.weights[i])
    second, first = START, START
    for t in range(sentences.bounds[i], sentences.bounds[i + 1]):
        y = targets.codes[t]
        if y < 0:
            second, first = first, _UNKNOWN
            continue
        count_tag(counted, sentences.contexts[t], y, weight)
        if first != _UNKNOWN:
            model.bigrams[first + 1, y] += weight
            model.bigram_totals[first + 1] += weight
            if second != _UNKNOWN and order == 2:
                row = learned_pair(model.pair_rows, model.n_pairs, second, first)
                model.trigrams[row, y] += weight
                model.trigram_totals[row] += weight
        second, first = first, y


class HMM(Tagger):
    """Hidden Markov model.

    The most probable tags under smoothed counts, found by Viterbi's algorithm among each token's likely tags::

        argmax prod_t P(y_t | y_{t-1}, y_{t-2}) P(y_t | word) / P(y_t)
        P(k | j, i) = (N(i, j, k) + alpha P(k | j)) / (N(i, j) + alpha),   P(k | j) likewise towards P(k)
        P(k | c) = (N(c, k) + theta P(k | c')) / (N(c) + theta)

    c is the word, whose parents c' are its shape with its last four to one characters, then its shape alone. Those
    count rare words only.

    Parameters
    ----------
    order : how many tags the next one depends on, 1 or 2.
    theta : how much a word is drawn towards its suffix, and so on.
    alpha : how much a transition is drawn towards the shorter one.

    Attributes
    ----------
    context_counts : N(c, k), how often each context had each tag.
    context_totals : N(c), how often each context was seen.
    tag_counts : how often each tag was seen.
    total : how many tokens were seen.
    bigrams : how often each tag followed each tag; row 0 is the start of the sentence, row j + 1 tag j.
    bigram_totals : the sums of these rows.
    trigrams : how often each tag followed each pair of tags.
    trigram_totals : the sums of these rows.
    pair_rows : the row of each pair in `trigrams`; -1 where it was not seen. Row and column 0 are the start.

    Raises
    ------
    ConfigError : a parameter is outside its limits.
    """

    name = "hmm"
    kinds: ClassVar[dict[str, Kind]] = {
        "context_counts": "contexts",
        "context_totals": "context",
        "tag_counts": "tags",
        "total": "fixed",
        "bigrams": "chain",
        "bigram_totals": "tags_and_start",
        "trigrams": "pairs",
        "trigram_totals": "pair",
        "pair_rows": "pair_rows",
    }

    @checked
    def __init__(self, order: Literal[1, 2] = 2, theta: Positive = 1.0, alpha: Positive = 5.0) -> None:
        super().__init__()
        self.order, self.theta, self.alpha = order, theta, alpha
        self.make_tables()
        self.total = np.zeros(1)

    def tag_then_learn(self, sentences: Sentences, targets: TagTargets, tagged: Tagged) -> None:
        """See `Tagger`."""
        self.make_room_for_pairs(targets.codes.size)
        counted = self._counted()
        tag_batch(sentences, targets, self.order, np.float32(self.theta), self.alpha, counted, self._model(), tagged)

    def parts(self, sentences: Sentences, tags: NDArray[np.int32], n_tags: int) -> Parts:
        """See `Tagger`: the score is the logarithm of the product that it maximizes."""
        p = level_probabilities(self._counted(), sentences.contexts, self.theta, n_tags)
        contexts = np.diff(np.log(p.astype(np.float64)), axis=0).transpose(1, 0, 2)
        priors, every = p[0, 0].astype(np.float64), np.arange(n_tags)[None]
        first, second = np.append(START, tags[:-1]), np.append([START, START], tags[:-2])[: tags.size]
        before = self._history_parts(second[:, None], first[:, None], every, priors)
        after: dict[Places, Floats] = {}
        for place in range(1, self.order + 1):
            after[place,] = np.zeros((tags.size, n_tags))
            histories: tuple[Codes, Codes] = (second[1:, None], every) if place == 1 else (every, first[2:, None])
            logs = self._history_parts(*histories, tags[place:, None], priors)
            after[place,][:-place] = np.sum([*logs.values()], axis=0)
        features = np.zeros((tags.size, 0, n_tags))
        return Parts(features, contexts, before, after, self._considered(sentences, tags.size, n_tags))

    def _history_parts(
        self, second: Codes, first: Codes, tag: Codes, priors: NDArray[np.float64]
    ) -> dict[Places, Floats]:
        """The terms of log P(tag | the tags before), for arrays of tags of shapes that broadcast."""
        model, j, shape = self._model(), first + 1, np.broadcast_shapes(second.shape, first.shape, tag.shape)
        p = [priors[tag]]
        p.append((model.bigrams[j, tag] + self.alpha * priors[tag]) / (model.bigram_totals[j] + self.alpha))
        if self.order == 2:
            rows = model.pair_rows[second + 1, j]
            drawn = (model.trigrams[rows, tag] + self.alpha * p[1]) / (model.trigram_totals[rows] + self.alpha)
            p.append(np.where(rows < 0, p[1], drawn))
        logs = np.log([np.broadcast_to(one, shape) for one in p])
        return dict(zip(((), (-1,), (-2, -1)), [logs[0], *np.diff(logs, axis=0)], strict=False))

    def _considered(self, sentences: Sentences, n: int, n_tags: int) -> NDArray[np.bool_]:
        """bool[n, n_tags]: which tags are probable enough for each token's word."""
        counted = self._counted()
        scratch = new_scratch(n, counted.tags.size)
        set_priors(counted, n_tags, padded(n_tags), scratch.priors)
        considered = np.zeros((n, n_tags), np.bool_)
        for t in range(n):
            consider(sentences, 0, t, n_tags, np.float32(self.theta), counted, scratch)
            considered[t, scratch.tags[t, : scratch.sizes[t]]] = True
        return considered

    def _counted(self) -> ContextCounts:
        return ContextCounts(*self.arrays_of(tuple(self.tables)[:4]))

    def _model(self) -> Transitions:
        return Transitions(*self.arrays_of((*tuple(self.tables)[4:], "n_pairs")))
