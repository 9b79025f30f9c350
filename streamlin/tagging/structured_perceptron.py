"""Structured perceptron, and its relatives with a margin: one Viterbi search finds the tags to step away from.

Collins, EMNLP 2002, 1-8, averaged as in Daumé, PhD thesis (2006), figure 2.3; Crammer et al., JMLR 7 (2006) 551-585,
section 9, for PA-I; Tsochantaridis et al., JMLR 6 (2005) 1453-1484, for the hinge loss with the cost inside the search;
Duchi, Hazan, Singer, JMLR 12 (2011) 2121-2159, figure 1, for its steps.
"""

from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.kernel.unowned import hold, unowned
from streamlin.learners.linear import adagrad_step
from streamlin.learners.parameters import Positive, PositiveOrInfinite, checked
from streamlin.tagging.adagrad import Gradient, new_gradient, step_token
from streamlin.tagging.base import Kind, Tagger
from streamlin.tagging.histories import history
from streamlin.tagging.parts import Parts, all_considered, chain_parts, feature_parts, no_contexts
from streamlin.tagging.sentences import PART, Sentences, Tagged, TagTargets, known_after, longest
from streamlin.tagging.slots import own_slot
from streamlin.tagging.viterbi import (
    Lattice,
    best_path,
    new_lattice,
    padded,
    prefetch_rows,
    set_emissions,
    set_limit,
    set_limits,
    set_slots,
)

PERCEPTRON, PASSIVE_AGGRESSIVE, ADAGRAD = range(3)
_STEPS = {"perceptron": PERCEPTRON, "passive_aggressive": PASSIVE_AGGRESSIVE, "adagrad": ADAGRAD}
_LOW = np.float32(-1e30)


class Weights(NamedTuple):
    """The learned tables; changed in place. sums : of squared gradients, or for the average; clock : float64[1]."""

    weights: NDArray[np.float32]
    sums: NDArray[np.float32]
    slots: NDArray[np.int32]
    n_slots: NDArray[np.int64]
    transitions: NDArray[np.float32]
    transition_sums: NDArray[np.float32]
    clock: NDArray[np.float64]


class _Step(NamedTuple):
    """kind : of the step. size : of a perceptron's or PA's. clock : before the sentence. eta, epsilon : of Adagrad."""

    kind: int
    size: np.float32
    clock: np.float32
    eta: np.float32
    epsilon: np.float32


@kernel
def tag_batch(
    sentences: Sentences,
    targets: TagTargets,
    kind: int,
    C: float,
    eta: np.float32,
    epsilon: np.float32,
    model: Weights,
    tagged: Tagged,
) -> None:
    """Tag, then learn, sentence by sentence."""
    most, capacity = longest(sentences), model.weights.shape[1]
    made = (
        new_lattice(most, capacity),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        new_gradient(2, sentences.rows.shape[1]),
    )
    lattice, truth, rival, gradient = unowned(made)
    sentences, targets, model, tagged = unowned((sentences, targets, model, tagged))
    limited = 0
    for i in range(sentences.bounds.size - 1):
        begin, end = sentences.bounds[i], sentences.bounds[i + 1]
        n, n_tags, n_learned = end - begin, targets.known[i], known_after(targets, i, begin, end)
        if n == 0 or (n_tags == 0 and n_learned < 0):
            continue
        width, known = padded(max(n_tags, n_learned)), sentences.rows_before[i]
        set_emissions(sentences.rows[begin:end], known, model.slots, model.weights, width, lattice.scores)
        if n_tags > limited:
            set_limits(model.transitions, n_tags, lattice.limits)
            limited = n_tags
        if n_tags > 0:
            predict(sentences, i, n, n_tags, kind, model, lattice, tagged)
        if n_learned < 0:
            continue
        weight = np.float32(targets.weights[i])
        if kind == PERCEPTRON:
            model.clock[0] += np.float64(weight)
        clock = np.float32(model.clock[0] - np.float64(weight))
        for first in range(begin, end, PART):
            last = min(first + PART, end)
            rows, codes = sentences.rows[first:last], targets.codes[first:last]
            start = history(targets.codes[begin:end], tagged.tags[begin:end], first - begin - 1) + 1
            if n > PART:  # with the features that this sentence brings, which its earlier parts have learned
                set_emissions(rows, model.slots.size, model.slots, model.weights, width, lattice.scores)
            if kind == PERCEPTRON or n_learned > limited:  # the perceptron predicts by other transitions
                set_limits(model.transitions, n_learned, lattice.limits)
                limited = n_learned
            loss = set_rival(codes, start, n_learned, kind, model, lattice, truth, rival)
            size = weight
            if kind == PASSIVE_AGGRESSIVE:
                squared = squared_distance(rows.shape[1], codes.size, truth, rival)
                size = weight * np.float32(min(C, np.float64(loss) / squared)) if loss > 0.0 else np.float32(0.0)
            step = _Step(kind, size, clock, eta, epsilon)
            if size > 0.0:
                learn(rows, start, n_learned, step, model, lattice, truth, rival, gradient)
    hold(made)


@kernel
def predict(
    sentences: Sentences,
    i: int,
    n: int,
    n_tags: int,
    kind: int,
    model: Weights,
    lattice: Lattice,
    tagged: Tagged,
) -> None:
    """Set the best tags of a sentence, by the averaged weights if the step is the perceptron's."""
    begin, width = sentences.bounds[i], padded(n_tags)
    path = tagged.tags[begin : begin + n]
    if kind != PERCEPTRON or model.clock[0] == 0.0:
        best_path(lattice, lattice.scores, model.transitions, n, n_tags, path)
        return
    inverse, means = np.float32(1.0 / model.clock[0]), lattice.alpha
    known = sentences.rows_before[i]
    set_emissions(sentences.rows[begin : begin + n], known, model.slots, model.sums, width, means)
    for t in range(n):
        for k in range(width):
            means[t, k] = lattice.scores[t, k] - means[t, k] * inverse
    transitions = model.transitions - model.transition_sums * inverse
    set_limits(transitions, n_tags, lattice.limits)
    best_path(lattice, means, transitions, n, n_tags, path)


@kernel
def set_rival(
    codes: NDArray[np.int32],
    start: int,
    n_learned: int,
    kind: int,
    model: Weights,
    lattice: Lattice,
    truth: NDArray[np.int32],
    rival: NDArray[np.int32],
) -> np.float32:
    """Set `rival` to the best tags, each wrong one with a bonus of 1 if there is a margin; returns what is lost by it.

    start : the row of the transitions to the first tag. truth : set to the true tags; where some are unknown, to the
    best tags that agree with the others.
    """
    n, one, fixed = codes.size, np.float32(1.0), lattice.alpha
    whole = True
    for t in range(n):
        whole = whole and codes[t] >= 0
        truth[t] = codes[t]
    if not whole:
        for t in range(n):
            for k in range(padded(n_learned)):
                fixed[t, k] = lattice.scores[t, k] if codes[t] < 0 or codes[t] == k else _LOW
        best_path(lattice, fixed, model.transitions, n, n_learned, truth, start)
    if kind != PERCEPTRON:
        for t in range(n):
            if codes[t] >= 0:
                for k in range(n_learned):
                    lattice.scores[t, k] += one
                lattice.scores[t, codes[t]] -= one
    best_path(lattice, lattice.scores, model.transitions, n, n_learned, rival, start)
    loss, y, r = np.float32(0.0), start, start
    for t in range(n):
        loss += lattice.scores[t, rival[t]] - lattice.scores[t, truth[t]]
        loss += model.transitions[r, rival[t]] - model.transitions[y, truth[t]]
        y, r = truth[t] + 1, rival[t] + 1
    return loss


@kernel
def squared_distance(templates: int, n: int, truth: NDArray[np.int32], rival: NDArray[np.int32]) -> float:
    """The squared length of the difference of two sequences' features; a feature met twice counts as two."""
    squared, y, r = 0.0, 0, 0
    for t in range(n):
        squared += 2.0 * templates * (truth[t] != rival[t])
        squared += 2.0 * (truth[t] != rival[t] or y != r)
        y, r = truth[t] + 1, rival[t] + 1
    return squared


@kernel
def learn(
    rows: NDArray[np.int32],
    start: int,
    n_learned: int,
    step: _Step,
    model: Weights,
    lattice: Lattice,
    truth: NDArray[np.int32],
    rival: NDArray[np.int32],
    gradient: Gradient,
) -> None:
    """Step towards the true tags and away from the rival, wherever they differ. rows int32[n, templates]."""
    y, r, n = start, start, rows.shape[0]
    for t in range(n):
        differs = truth[t] != rival[t]
        if t + 1 < n and truth[t + 1] != rival[t + 1]:
            ahead = set_slots(rows[t + 1], model.slots.size, model.slots, gradient.rows)
            prefetch_rows(gradient.rows, ahead, model.sums)
        if differs and step.kind == ADAGRAD:
            gradient.tags[0], gradient.values[0] = truth[t], -step.size
            gradient.tags[1], gradient.values[1] = rival[t], step.size
            own = rows[t]
            step_token(gradient, 2, own, model.slots, model.n_slots, step.eta, step.epsilon, model.weights, model.sums)
        elif differs:
            for row in rows[t]:
                if row >= 0:
                    slot = own_slot(model.slots, model.n_slots, row)
                    move(step, slot, truth[t], np.float32(1.0), model.weights, model.sums)
                    move(step, slot, rival[t], np.float32(-1.0), model.weights, model.sums)
        if differs or y != r:
            move(step, y, truth[t], np.float32(1.0), model.transitions, model.transition_sums)
            move(step, r, rival[t], np.float32(-1.0), model.transitions, model.transition_sums)
            for row in (y, r):
                if row > 0:
                    set_limit(model.transitions, row - 1, n_learned, lattice.limits)
        y, r = truth[t] + 1, rival[t] + 1


@kernel
def move(
    step: _Step, row: int, k: int, sign: np.float32, weights: NDArray[np.float32], sums: NDArray[np.float32]
) -> None:
    """One step of one weight."""
    if step.kind == ADAGRAD:
        adagrad_step(-sign * step.size, row, k, step.eta, step.epsilon, weights, sums)
        return
    weights[row, k] += sign * step.size
    if step.kind == PERCEPTRON:
        sums[row, k] += sign * step.size * step.clock


class StructuredPerceptron(Tagger):
    """Structured perceptron of a linear chain, with steps of three kinds.

    The score of tags y is s(y) = sum_t W[y_t].f(x, t) + T[y_{t-1}, y_t]; F(y) are its features. For the true tags y and
    the rival r, the best tags::

        perceptron          W += F(y) - F(r);   it predicts with the average of W over all sentences
        passive_aggressive  r = argmax s + errors;   W += min(C, loss / |F(y) - F(r)|^2) (F(y) - F(r))
        adagrad             r likewise, the hinge loss;   W -= eta g / sqrt(G + epsilon),  g = F(r) - F(y)

    Its scores are no probabilities, so it has no confidence.

    Parameters
    ----------
    step : `"adagrad"`, `"passive_aggressive"` or `"perceptron"`.
    C : the largest step of `"passive_aggressive"`.
    eta : the step size of `"adagrad"`.
    epsilon : of `"adagrad"`, added to each sum of squared gradients; keeps the first step finite.

    Attributes
    ----------
    weights : W, the weight of each feature for each tag.
    sums : G of W; of the perceptron, the sum of each update times the clock before it.
    transitions : T; row 0 is the start of the sentence, row j + 1 tag j.
    transition_sums : the same of T.
    clock : the weight of all sentences learned by the perceptron.

    Raises
    ------
    ConfigError : a parameter is outside its limits.
    """

    name = "structured_perceptron"
    kinds: ClassVar[dict[str, Kind]] = {
        "weights": "rows",
        "sums": "rows",
        "slots": "slots",
        "transitions": "chain",
        "transition_sums": "chain",
        "clock": "fixed",
    }

    @checked
    def __init__(
        self,
        step: Literal["perceptron", "passive_aggressive", "adagrad"] = "adagrad",
        C: PositiveOrInfinite = 0.1,
        eta: Positive = 0.1,
        epsilon: Positive = 1e-3,
    ) -> None:
        super().__init__()
        self.step, self.C, self.eta, self.epsilon = step, C, eta, epsilon
        self.make_tables()
        self.clock = np.zeros(1)

    def tag_then_learn(self, sentences: Sentences, targets: TagTargets, tagged: Tagged) -> None:
        """See `Tagger`."""
        parameters = _STEPS[self.step], float(self.C), np.float32(self.eta), np.float32(self.epsilon)
        tag_batch(sentences, targets, *parameters, self._model(), tagged)

    def parts(self, sentences: Sentences, tags: NDArray[np.int32], n_tags: int) -> Parts:
        """See `Tagger`."""
        model = self._model()
        transitions = model.transitions
        features = feature_parts(sentences, model.slots, model.weights, n_tags)
        if self.step == "perceptron" and self.clock[0] > 0.0:
            inverse = np.float32(1.0 / self.clock[0])
            features = features - feature_parts(sentences, model.slots, model.sums, n_tags) * inverse
            transitions = transitions - model.transition_sums * inverse
        before, after = chain_parts(transitions, tags, n_tags)
        contexts = no_contexts(tags, n_tags)
        return Parts(features, contexts, {(-1,): before}, {(1,): after}, all_considered(tags, n_tags))

    def _model(self) -> Weights:
        return Weights(*self.arrays_of(Weights._fields))
