"""Log-linear tagger: a maximum-entropy Markov model, learned online with Adagrad steps.

Ratnaparkhi, EMNLP 1996, 133-142, with his histories of one and two tags and his beam; McCallum, Freitag, Pereira, ICML
2000, 591-598. Duchi, Hazan, Singer, JMLR 12 (2011) 2121-2159, figure 1.
"""

from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.kernel.unowned import hold, unowned
from streamlin.learners.parameters import NonNegative, Positive, checked
from streamlin.tagging.adagrad import Gradient, gather, new_gradient, step_row, step_token
from streamlin.tagging.base import Kind, Tagger
from streamlin.tagging.exponentials import exponentials
from streamlin.tagging.histories import START, history, learned_pair
from streamlin.tagging.parts import Floats, Parts, Places, all_considered, feature_parts, no_contexts
from streamlin.tagging.reductions import best_of, highest, sum_of
from streamlin.tagging.sentences import Sentences, Tagged, TagTargets, known_after, longest
from streamlin.tagging.viterbi import padded, prefetch_rows, set_emissions, set_slots

_ZERO = np.float32(0.0)


class Weights(NamedTuple):
    """The learned tables; changed in place."""

    weights: NDArray[np.float32]
    squares: NDArray[np.float32]
    slots: NDArray[np.int32]
    n_slots: NDArray[np.int64]
    transitions: NDArray[np.float32]
    transition_squares: NDArray[np.float32]
    pairs: NDArray[np.float32]
    pair_squares: NDArray[np.float32]
    pair_rows: NDArray[np.int32]
    n_pairs: NDArray[np.int64]


class _Scratch(NamedTuple):
    """scores : float32[longest, capacity]. local, shares : float32[capacity]; bits, powers : int32[capacity], see
    `exponentials`. tags, back : int32[longest, beam]; totals, before : float64[beam]; logs : float32[longest, beam].
    """

    scores: NDArray[np.float32]
    local: NDArray[np.float32]
    shares: NDArray[np.float32]
    bits: NDArray[np.int32]
    powers: NDArray[np.int32]
    tags: NDArray[np.int32]
    back: NDArray[np.int32]
    totals: NDArray[np.float64]
    before: NDArray[np.float64]
    logs: NDArray[np.float32]


@kernel
def tag_batch(
    sentences: Sentences,
    targets: TagTargets,
    eta: np.float32,
    epsilon: np.float32,
    beam: int,
    skip: np.float32,
    model: Weights,
    tagged: Tagged,
) -> None:
    """Tag, then learn, sentence by sentence."""
    most, capacity = longest(sentences), model.weights.shape[1]
    shares = np.empty(capacity, np.float32)
    made = (
        new_gradient(capacity, sentences.rows.shape[1]),
        _Scratch(
            np.empty((most, capacity), np.float32),
            np.empty(capacity, np.float32),
            shares,
            shares.view(np.int32),
            np.empty(capacity, np.int32),
            np.empty((most, beam), np.int32),
            np.empty((most, beam), np.int32),
            np.empty(beam),
            np.empty(beam),
            np.empty((most, beam), np.float32),
        ),
    )
    gradient, scratch = unowned(made)
    sentences, targets, model, tagged = unowned((sentences, targets, model, tagged))
    for i in range(sentences.bounds.size - 1):
        begin, end = sentences.bounds[i], sentences.bounds[i + 1]
        n, n_tags, n_learned = end - begin, targets.known[i], known_after(targets, i, begin, end)
        if n == 0 or (n_tags == 0 and n_learned < 0):
            continue
        width = padded(max(n_tags, n_learned))
        known = sentences.rows_before[i]
        set_emissions(sentences.rows[begin:end], known, model.slots, model.weights, width, scratch.scores)
        if n_tags > 0:
            predict(i, begin, n, n_tags, beam, model, scratch, tagged)
        if n_learned > 0:
            weight = np.float32(targets.weights[i])
            learn(sentences, targets, begin, n, n_learned, eta, epsilon, skip, weight, model, scratch, gradient, tagged)
    hold(made)


@kernel
def set_local(model: Weights, t: int, n_tags: int, second: int, first: int, scratch: _Scratch) -> float:
    """Set shares[:n_tags] to exp(score - the best one) of token t's tags, and local to the scores, behind two tags.

    Returns the sum of the shares.
    """
    width, s = padded(n_tags), scratch.scores[t]
    step, row = model.transitions[first + 1], model.pair_rows[second + 1, first + 1]
    if row >= 0:
        pair = model.pairs[row]
        for k in range(width):
            scratch.local[k] = s[k] + step[k] + pair[k]
    else:
        for k in range(width):
            scratch.local[k] = s[k] + step[k]
    top = highest(scratch.local, n_tags)
    exponentials(scratch.local, top, width, scratch.shares, scratch.bits, scratch.powers)
    return np.float64(sum_of(scratch.shares, n_tags))


@kernel
def predict(
    i: int, begin: int, n: int, n_tags: int, beam: int, model: Weights, scratch: _Scratch, tagged: Tagged
) -> None:
    """Set the tags of the most probable sequence that the beam keeps, and their probabilities."""
    tags, back, totals, before = scratch.tags, scratch.back, scratch.totals, scratch.before
    kept = 1
    before[0] = 0.0
    for t in range(n):
        size = 0
        for h in range(kept):
            first = tags[t - 1, h] if t > 0 else START
            second = tags[t - 2, back[t - 1, h]] if t > 1 else START
            total = set_local(model, t, n_tags, second, first, scratch)
            if beam == 1:
                k = best_of(scratch.local, n_tags)
                tags[t, 0], back[t, 0], size = k, 0, 1
                scratch.logs[t, 0] = np.float32(-np.log(total))
                totals[0] = before[0] - np.log(total)
            else:
                top = np.float64(highest(scratch.local, n_tags))
                size = insert(scratch, t, h, n_tags, beam, size, before[h], top + np.log(total))
        kept = size
        for h in range(kept):
            before[h] = totals[h]
    tagged.confidences[i] = np.exp(totals[0])
    h = 0
    for t in range(n - 1, -1, -1):
        tagged.tags[begin + t] = tags[t, h]
        if tagged.token_confidences.size:
            tagged.token_confidences[begin + t] = np.exp(scratch.logs[t, h])
        h = back[t, h]


@kernel
def insert(
    scratch: _Scratch, t: int, h: int, n_tags: int, beam: int, size: int, before: float, log_total: float
) -> int:
    """Insert the continuations of hypothesis h into those of token t, best first; returns their number."""
    tags, back, totals, logs = scratch.tags, scratch.back, scratch.totals, scratch.logs
    for k in range(n_tags):
        log = np.float64(scratch.local[k]) - log_total
        value = before + log
        if size == beam and value <= totals[beam - 1]:
            continue
        size = min(size + 1, beam)
        place = size - 1
        while place > 0 and totals[place - 1] < value:
            totals[place], tags[t, place], back[t, place] = totals[place - 1], tags[t, place - 1], back[t, place - 1]
            logs[t, place] = logs[t, place - 1]
            place -= 1
        totals[place], tags[t, place], back[t, place], logs[t, place] = value, k, h, np.float32(log)
    return size


@kernel
def learn(
    sentences: Sentences,
    targets: TagTargets,
    begin: int,
    n: int,
    n_learned: int,
    eta: np.float32,
    epsilon: np.float32,
    skip: np.float32,
    weight: np.float32,
    model: Weights,
    scratch: _Scratch,
    gradient: Gradient,
    tagged: Tagged,
) -> None:
    """Step along the gradient of -log P(tag | features, the two true tags before), token by token."""
    codes, tags = targets.codes[begin : begin + n], tagged.tags[begin : begin + n]
    for t in range(n):
        if t + 1 < n and scratch.logs[t + 1, 0] < -skip:  # not sure, so it will most likely be learned
            ahead = set_slots(sentences.rows[begin + t + 1], model.slots.size, model.slots, gradient.rows)
            prefetch_rows(gradient.rows, ahead, model.squares)
        if codes[t] < 0:
            continue
        first, second = history(codes, tags, t - 1), history(codes, tags, t - 2)
        inverse = np.float32(1.0 / set_local(model, t, n_learned, second, first, scratch))
        for k in range(padded(n_learned)):
            scratch.shares[k] *= inverse
        scratch.shares[codes[t]] -= np.float32(1.0)
        size = gather(scratch.shares, n_learned, skip, weight, gradient)
        if size:
            rows = sentences.rows[begin + t]
            step_token(gradient, size, rows, model.slots, model.n_slots, eta, epsilon, model.weights, model.squares)
            step_row(gradient, size, first + 1, eta, epsilon, model.transitions, model.transition_squares)
            row = learned_pair(model.pair_rows, model.n_pairs, second, first)
            step_row(gradient, size, row, eta, epsilon, model.pairs, model.pair_squares)


class LogLinear(Tagger):
    """Log-linear tagger (maximum-entropy Markov model): each tag given the token's features and the two tags before.

    For features f of token t, and G that sums squared gradients::

        P(k | t, y_{t-1}, y_{t-2}) = exp(W[k].f + T[y_{t-1}, k] + U[y_{t-2} y_{t-1}, k]) / Z
        W[k] -= eta (P(k) - [y_t = k]) f / sqrt(G + epsilon),   T and U likewise

    It is learned behind the true tags, and predicts behind its own: greedily, or with a beam. Gradients below `skip`
    are not learned.

    Parameters
    ----------
    eta : the step size.
    epsilon : added to each sum of squared gradients; keeps the first step finite.
    beam : how many sequences of tags are kept from token to token; 1: only the best one.
    skip : 0 learns every gradient.

    Attributes
    ----------
    weights : W, the weight of each feature for each tag.
    squares : G of W.
    transitions : T; row 0 is the start of the sentence, row j + 1 tag j.
    transition_squares : G of T.
    pairs : U, a row for each pair of tags.
    pair_squares : G of U.
    pair_rows : the row of each pair in `pairs`; -1 where it was not seen. Row and column 0 are the start.

    Raises
    ------
    ConfigError : a parameter is outside its limits.
    """

    name = "log_linear"
    kinds: ClassVar[dict[str, Kind]] = {
        "weights": "rows",
        "squares": "rows",
        "slots": "slots",
        "transitions": "chain",
        "transition_squares": "chain",
        "pairs": "pairs",
        "pair_squares": "pairs",
        "pair_rows": "pair_rows",
    }

    @checked
    def __init__(
        self,
        eta: Positive = 0.2,
        epsilon: Positive = 1e-3,
        beam: Annotated[int, Ge(1), Le(64)] = 1,
        skip: NonNegative = 1e-2,
    ) -> None:
        super().__init__()
        self.eta, self.epsilon, self.beam, self.skip = eta, epsilon, beam, skip
        self.make_tables()

    def tag_then_learn(self, sentences: Sentences, targets: TagTargets, tagged: Tagged) -> None:
        """See `Tagger`."""
        self.make_room_for_pairs(targets.codes.size)
        parameters = np.float32(self.eta), np.float32(self.epsilon), self.beam, np.float32(self.skip)
        tag_batch(sentences, targets, *parameters, self._model(), tagged)

    def parts(self, sentences: Sentences, tags: NDArray[np.int32], n_tags: int) -> Parts:
        """See `Tagger`. Only a beam looks at the tags behind a token."""
        model = self._model()
        features = feature_parts(sentences, model.slots, model.weights, n_tags)
        first, second = np.append(START, tags[:-1]), np.append([START, START], tags[:-2])[: tags.size]
        before = {(-1,): model.transitions[first + 1, :n_tags], (-2, -1): self._pair_weights(second, first, n_tags)}
        after = {} if self.beam == 1 else self._parts_behind(features.sum(axis=1), tags, n_tags)
        return Parts(features, no_contexts(tags, n_tags), before, after, all_considered(tags, n_tags))

    def _parts_behind(self, scores: Floats, tags: NDArray[np.int32], n_tags: int) -> dict[Places, Floats]:
        """What a tag adds to the log probabilities of the next two tags. scores [m, n_tags] : of the features."""
        every = np.arange(n_tags)
        behind: dict[Places, Floats] = {(1,): np.zeros(scores.shape), (2,): np.zeros(scores.shape)}
        for t in range(tags.size - 1):
            before = tags[t - 1] if t else START
            behind[1,][t] = self._logs(scores[t + 1], np.full(n_tags, before), every, tags[t + 1])
            if t + 2 < tags.size:
                behind[2,][t] = self._logs(scores[t + 2], every, np.full(n_tags, tags[t + 1]), tags[t + 2])
        return behind

    def _logs(self, scores: Floats, second: NDArray[np.int_], first: NDArray[np.int_], tag: int) -> Floats:
        """log P(tag | the two tags before), for n pairs of these."""
        n_tags = scores.size
        local = scores + self._model().transitions[first + 1, :n_tags] + self._pair_weights(second, first, n_tags)
        logs: Floats = local[:, tag] - np.logaddexp.reduce(local.astype(np.float64), axis=1)
        return logs

    def _pair_weights(self, second: NDArray[np.int_], first: NDArray[np.int_], n_tags: int) -> Floats:
        """[n, n_tags]: the weights of n pairs of tags; 0 for a pair that was not seen."""
        model = self._model()
        rows = model.pair_rows[second + 1, first + 1]
        found: Floats = np.where(rows[:, None] < 0, np.float32(0.0), model.pairs[np.maximum(rows, 0), :n_tags])
        return found

    def _model(self) -> Weights:
        return Weights(*self.arrays_of(Weights._fields))
