"""Conditional random field of a linear chain, learned online with Adagrad steps.

Lafferty, McCallum, Pereira, ICML 2001, 282-289; Duchi, Hazan, Singer, JMLR 12 (2011) 2121-2159, figure 1.
"""

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.kernel.unowned import hold, unowned
from streamlin.learners.parameters import NonNegative, Positive, checked
from streamlin.tagging.adagrad import Gradient, gather, new_gradient, prefetch_step, step_row, step_token
from streamlin.tagging.base import Kind, Tagger
from streamlin.tagging.contexts import (
    NO_COUNTS,
    THETA,
    ContextCounts,
    count_tag,
    level_probabilities,
    set_priors,
    set_probabilities,
)
from streamlin.tagging.exponentials import exponentials
from streamlin.tagging.histories import history
from streamlin.tagging.parts import Floats, Parts, all_considered, chain_parts, feature_parts, no_contexts
from streamlin.tagging.reductions import farthest
from streamlin.tagging.sentences import PART, Sentences, Tagged, TagTargets, known_after, longest
from streamlin.tagging.viterbi import (
    Lattice,
    add_posteriors,
    best_path,
    forward,
    new_lattice,
    padded,
    set_emissions,
    set_limit,
    set_limits,
)

_ZERO = np.float32(0.0)
_AHEAD = 2
"""Steps ahead of which the sums of a step are asked for."""
_LOW = np.float32(-1e30)
_LEAST = np.float32(1e-6)
"""A smaller P(k | word) / P(k) counts as this."""


class Weights(NamedTuple):
    """The learned tables; changed in place. count_weight : float64[2], the weight of the counts' score and its G."""

    weights: NDArray[np.float32]
    squares: NDArray[np.float32]
    slots: NDArray[np.int32]
    n_slots: NDArray[np.int64]
    transitions: NDArray[np.float32]
    transition_squares: NDArray[np.float32]
    count_weight: NDArray[np.float64]


class _Scratch(NamedTuple):
    """factors, pairs : float32[capacity + 1, capacity]. logs, errors, fixed : float32[longest, capacity].
    nothing : float32[0, 0].
    """

    factors: NDArray[np.float32]
    pairs: NDArray[np.float32]
    logs: NDArray[np.float32]
    errors: NDArray[np.float32]
    fixed: NDArray[np.float32]
    nothing: NDArray[np.float32]


@kernel
def tag_batch(
    sentences: Sentences,
    targets: TagTargets,
    eta: np.float32,
    epsilon: np.float32,
    prune: float,
    skip: np.float32,
    counts: bool,
    theta: np.float32,
    model: Weights,
    counted: ContextCounts,
    tagged: Tagged,
) -> None:
    """Tag, then learn, sentence by sentence."""
    most, capacity = longest(sentences), model.weights.shape[1]
    made = (
        new_lattice(most, capacity),
        new_gradient(capacity, sentences.rows.shape[1]),
        _Scratch(
            np.empty((capacity + 1, capacity), np.float32),
            np.zeros((capacity + 1, capacity), np.float32),
            np.zeros((most if counts else 0, capacity), np.float32),
            np.empty((most, capacity), np.float32),
            np.empty((most, capacity), np.float32),
            np.empty((0, 0), np.float32),
        ),
    )
    lattice, gradient, scratch = unowned(made)
    sentences, targets, model, counted, tagged = unowned((sentences, targets, model, counted, tagged))
    limited = 0
    for j in range(capacity + 1):
        set_factors(model, j, lattice, scratch)
    for i in range(sentences.bounds.size - 1):
        begin, end = sentences.bounds[i], sentences.bounds[i + 1]
        n, n_tags, n_learned = end - begin, targets.known[i], known_after(targets, i, begin, end)
        if n == 0 or (n_tags == 0 and n_learned < 0):
            continue
        sizes = n_tags, max(n_tags, n_learned)
        known = sentences.rows_before[i]
        set_scores(sentences, i, begin, end, known, sizes, counts, theta, model, counted, lattice, scratch)
        if n_tags > limited:
            set_limits(model.transitions, n_tags, lattice.limits)
            limited = n_tags
        if n_tags > 0:
            predict(i, begin, n, n_tags, prune, model, lattice, scratch, tagged)
        if n_learned < 0:
            continue
        weight = np.float32(targets.weights[i])
        for first in range(begin, end, PART):
            last = min(first + PART, end)
            rows, codes = sentences.rows[first:last], targets.codes[first:last]
            start = history(targets.codes[begin:end], tagged.tags[begin:end], first - begin - 1) + 1
            if n > PART:  # with the features that this sentence brings, which its earlier parts have learned
                known = model.slots.size
                set_scores(sentences, i, first, last, known, sizes, counts, theta, model, counted, lattice, scratch)
            if n > PART or n_learned > n_tags:
                forward(lattice, lattice.scores, scratch.factors, codes.size, n_learned, prune, start)
            set_errors(codes, start, n_learned, prune, lattice, scratch)
            learn(rows, n_learned, eta, epsilon, skip, weight, model, lattice, scratch, gradient)
            if counts:
                step_count_weight(codes.size, n_learned, eta, epsilon, weight, model, scratch)
        if counts:
            for t in range(begin, end):
                if targets.codes[t] >= 0:
                    count_tag(counted, sentences.contexts[t], targets.codes[t], weight)
    hold(made)


@kernel
def set_factors(model: Weights, j: int, lattice: Lattice, scratch: _Scratch) -> None:
    """Set row j of the transitions' exponentials."""
    width = model.transitions.shape[1]
    exponentials(model.transitions[j], _ZERO, width, lattice.shares, lattice.bits, lattice.powers)
    for k in range(lattice.shares.size):  # not as a slice, see `curve.thin_out`
        scratch.factors[j, k] = lattice.shares[k]


@kernel
def set_scores(
    sentences: Sentences,
    i: int,
    begin: int,
    end: int,
    known: int,
    sizes: tuple[int, int],
    counts: bool,
    theta: np.float32,
    model: Weights,
    counted: ContextCounts,
    lattice: Lattice,
    scratch: _Scratch,
) -> None:
    """Set the scores of the tags of sentence i's tokens `begin` to `end`: weights of features, and what the counts say.

    sizes : of how many tags the counts are known, and how many have a score.
    """
    n_tags, width = sizes[0], padded(sizes[1])
    set_emissions(sentences.rows[begin:end], known, model.slots, model.weights, width, lattice.scores)
    if not counts:
        return
    weight, priors, p = np.float32(model.count_weight[0]), lattice.beta, lattice.flows
    if n_tags > 0:
        set_priors(counted, n_tags, padded(n_tags), priors)
    for t in range(end - begin):
        logs = scratch.logs[t]
        logs[:width] = _ZERO
        if n_tags > 0:
            set_probabilities(counted, sentences, i, begin + t, theta, padded(n_tags), priors, p)
            for k in range(n_tags):
                ratio = p[k] / priors[k]
                logs[k] = np.log(ratio if ratio > _LEAST else _LEAST)
                lattice.scores[t, k] += weight * logs[k]


@kernel
def predict(
    i: int,
    begin: int,
    n: int,
    n_tags: int,
    prune: float,
    model: Weights,
    lattice: Lattice,
    scratch: _Scratch,
    tagged: Tagged,
) -> None:
    """Set the best tags of a sentence, and the probabilities of all of them and, if wanted, of each."""
    path = tagged.tags[begin : begin + n]
    best = best_path(lattice, lattice.scores, model.transitions, n, n_tags, path)
    log_z = forward(lattice, lattice.scores, scratch.factors, n, n_tags, prune, int(np.int64(0)))
    tagged.confidences[i] = np.exp(min(0.0, np.float64(best) - log_z))
    if tagged.token_confidences.size:
        scratch.errors[:n] = _ZERO
        add_posteriors(lattice, scratch.factors, n, np.float32(1.0), scratch.errors, scratch.nothing, int(np.int64(0)))
        for t in range(n):
            tagged.token_confidences[begin + t] = scratch.errors[t, path[t]]


@kernel
def set_errors(
    codes: NDArray[np.int32], start: int, n_learned: int, prune: float, lattice: Lattice, scratch: _Scratch
) -> None:
    """After `forward`: set errors[t, k], the gradient of -log P(tags) by the score of tag k at t, and add to `pairs`.

    It is what the model expects, less what the tags are; where some are unknown, less what it expects given the others.
    start : the row of the transitions to the first tag.
    """
    n, one, whole = codes.size, np.float32(1.0), True
    for t in range(n):
        whole = whole and codes[t] >= 0
        for k in range(padded(n_learned)):
            scratch.errors[t, k] = _ZERO
    add_posteriors(lattice, scratch.factors, n, one, scratch.errors, scratch.pairs, start)
    if whole:
        before = start
        for t in range(n):
            scratch.errors[t, codes[t]] -= one
            scratch.pairs[before, codes[t]] -= one
            before = codes[t] + 1
        return
    for t in range(n):
        for k in range(padded(n_learned)):
            kept = codes[t] < 0 or codes[t] == k
            scratch.fixed[t, k] = lattice.scores[t, k] if kept else _LOW
    forward(lattice, scratch.fixed, scratch.factors, n, n_learned, prune, start)
    add_posteriors(lattice, scratch.factors, n, -one, scratch.errors, scratch.pairs, start)


@kernel
def learn(
    rows: NDArray[np.int32],
    n_learned: int,
    eta: np.float32,
    epsilon: np.float32,
    skip: np.float32,
    weight: np.float32,
    model: Weights,
    lattice: Lattice,
    scratch: _Scratch,
    gradient: Gradient,
) -> None:
    """Step along the errors, token by token, then along the transitions', which are set back to 0."""
    at, count = lattice.sizes, 0  # free after the sums
    for t in range(rows.shape[0]):
        at[count] = t
        count += int(farthest(scratch.errors[t], n_learned) > skip)
    for i in range(-_AHEAD, count):
        if i + _AHEAD < count:
            t = at[i + _AHEAD]
            prefetch_step(scratch.errors[t], n_learned, skip, rows[t], model.slots, model.squares, gradient)
        if i < 0:
            continue
        size = gather(scratch.errors[at[i]], n_learned, skip, weight, gradient)
        step_token(gradient, size, rows[at[i]], model.slots, model.n_slots, eta, epsilon, model.weights, model.squares)
    for j in range(n_learned + 1):
        size = gather(scratch.pairs[j], n_learned, skip, weight, gradient)
        scratch.pairs[j, : padded(n_learned)] = _ZERO
        if size:
            step_row(gradient, size, j, eta, epsilon, model.transitions, model.transition_squares)
            set_factors(model, j, lattice, scratch)
            if j > 0:
                set_limit(model.transitions, j - 1, n_learned, lattice.limits)


@kernel
def step_count_weight(
    n: int, n_learned: int, eta: np.float32, epsilon: np.float32, weight: np.float32, model: Weights, scratch: _Scratch
) -> None:
    """One step of the weight of the counts' score."""
    g = 0.0
    for t in range(n):
        for k in range(n_learned):
            g += np.float64(scratch.errors[t, k] * scratch.logs[t, k])
    g *= np.float64(weight)
    model.count_weight[1] += g * g
    model.count_weight[0] -= eta * g / np.sqrt(model.count_weight[1] + epsilon)


class CRF(Tagger):
    """Conditional random field of a linear chain.

    The score of tags y for a sentence x is a sum over its tokens, and its gradient what the model expects less what is
    true; G sums squared gradients::

        s(y) = sum_t W[y_t].f(x, t) + T[y_{t-1}, y_t],   P(y | x) = exp s(y) / Z
        W[k] -= eta (P(y_t = k | x) - [y_t = k]) f / sqrt(G + epsilon),   T likewise

    The best tags come from Viterbi's algorithm, the expectations from the forward-backward sums. Tags whose filtered
    probability is below `prune` leave the sums; gradients below `skip` are not learned.

    Parameters
    ----------
    eta : the step size.
    epsilon : added to each sum of squared gradients; keeps the first step finite.
    prune : 0 keeps all tags in the sums.
    skip : 0 learns every gradient.
    counts : add the hidden Markov model's log P(tag | word) / P(tag), times a weight that is learned from 0.75 on.

    Attributes
    ----------
    weights : W, the weight of each feature for each tag.
    squares : G of W.
    transitions : T; row 0 is the start of the sentence, row j + 1 tag j.
    transition_squares : G of T.
    count_weight : with `counts`, the weight of the counts' score, and its G.
    context_counts : with `counts`, how often each context had each tag.
    context_totals : with `counts`, how often each context was seen.
    tag_counts : with `counts`, how often each tag was seen.
    total : with `counts`, how many tokens were seen.

    Raises
    ------
    ConfigError : a parameter is outside its limits.
    """

    name = "crf"
    kinds: ClassVar[dict[str, Kind]] = {
        "weights": "rows",
        "squares": "rows",
        "slots": "slots",
        "transitions": "chain",
        "transition_squares": "chain",
    }
    count_tables: ClassVar[dict[str, Kind]] = {
        "count_weight": "fixed",
        "context_counts": "contexts",
        "context_totals": "context",
        "tag_counts": "tags",
        "total": "fixed",
    }

    @checked
    def __init__(
        self,
        eta: Positive = 0.2,
        epsilon: Positive = 1e-3,
        prune: NonNegative = 1e-3,
        skip: NonNegative = 1e-2,
        counts: bool = False,
    ) -> None:
        super().__init__()
        self.eta, self.epsilon, self.prune, self.skip, self.counts = eta, epsilon, prune, skip, counts
        if counts:
            self.tables |= self.count_tables
        self.make_tables()
        self.count_weight = np.array([0.75, 0.0])
        self.total = np.zeros(1)

    def tag_then_learn(self, sentences: Sentences, targets: TagTargets, tagged: Tagged) -> None:
        """See `Tagger`."""
        model, counted = self._model(), self._counted()
        parameters = np.float32(self.eta), np.float32(self.epsilon), self.prune, np.float32(self.skip)
        tag_batch(sentences, targets, *parameters, self.counts, THETA, model, counted, tagged)

    def parts(self, sentences: Sentences, tags: NDArray[np.int32], n_tags: int) -> Parts:
        """See `Tagger`."""
        model = self._model()
        before, after = chain_parts(model.transitions, tags, n_tags)
        contexts = self._context_parts(sentences, n_tags) if self.counts else no_contexts(tags, n_tags)
        features = feature_parts(sentences, model.slots, model.weights, n_tags)
        return Parts(features, contexts, {(-1,): before}, {(1,): after}, all_considered(tags, n_tags))

    def _context_parts(self, sentences: Sentences, n_tags: int) -> Floats:
        """[m, LEVELS, n_tags]: how much each context changes what the counts add."""
        p = level_probabilities(self._counted(), sentences.contexts, float(THETA), n_tags)
        logs = np.float32(self.count_weight[0]) * np.log(np.maximum(p / p[0], _LEAST))
        added: Floats = np.diff(logs, axis=0).transpose(1, 0, 2)
        return added

    def _model(self) -> Weights:
        return Weights(*self.arrays_of(Weights._fields))

    def _counted(self) -> ContextCounts:
        if not self.counts:
            return NO_COUNTS
        return ContextCounts(*self.arrays_of(("context_counts", "context_totals", "tag_counts", "total")))
