"""The taggers in plain Python, one sentence at a time, on dicts of features and of histories.

All numbers are float64, except those of the structured perceptron: it steps from ties to ties, which rounding breaks.

A vector over tags is an array of as many numbers as tags are known, in order of first sight; it grows with zeros.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
PART = 256
"""A longer sentence is learned in parts of so many tokens."""
START = None
"""Stands for the tags before the first token."""


class Token(NamedTuple):
    """Its features, and its contexts from the most general to the word; hashable."""

    features: tuple[Any, ...]
    contexts: tuple[Any, ...] = ()


class Guess(NamedTuple):
    """The tags as codes, their probability (None: it has none), and by how much the best sequence wins.

    margin : the least difference of scores between a tag of the sequence and what would replace it; near 0, rounding
        may choose another sequence.
    """

    tags: list[int]
    probability: float | None
    margin: float


class Table(defaultdict[Any, Vector]):
    """Key -> a vector over tags."""

    def __init__(self, number: type[np.floating[Any]] = np.float64) -> None:
        super().__init__(lambda: np.zeros(0, number))
        self._number = number

    def of(self, key: Any, n_tags: int) -> Vector:
        """The vector of a key, grown to so many tags; it may be changed."""
        if self[key].size < n_tags:
            self[key] = np.concatenate([self[key], np.zeros(n_tags - self[key].size, self._number)])
        return self[key]

    def seen(self, key: Any, n_tags: int) -> Vector:
        """The same, but a new key is not kept."""
        return self.of(key, n_tags)[:n_tags] if key in self else np.zeros(n_tags, self._number)


class NaiveTagger:
    """Test, then train: predict by the tags known before, then learn those that the sentence has."""

    def __init__(self) -> None:
        self.tags: list[str] = []

    def step(self, tokens: Sequence[Token], tags: Sequence[str | None], weight: float = 1.0) -> Guess | None:
        """The prediction, made before the sentence is learned; None while no tag is known."""
        guess = self.guess(tokens) if self.tags and tokens else None
        if weight > 0 and any(tag is not None for tag in tags):
            for tag in tags:
                if tag is not None and tag not in self.tags:
                    self.tags.append(tag)
            codes = [None if tag is None else self.tags.index(tag) for tag in tags]
            self.learn(tokens, codes, weight, guess)
        return guess

    def guess(self, tokens: Sequence[Token]) -> Guess:
        raise NotImplementedError

    def learn(self, tokens: Sequence[Token], codes: list[int | None], weight: float, guess: Guess | None) -> None:
        raise NotImplementedError


class Linear(NaiveTagger):
    """Weights of features and of histories, each with what its steps need."""

    def __init__(self, number: type[np.floating[Any]] = np.float64) -> None:
        super().__init__()
        self.weights, self.sums = Table(number), Table(number)

    def score(self, keys: Sequence[Any]) -> Vector:
        """The sum of some keys' vectors, one after the other."""
        first, *others = [self.weights.seen(key, len(self.tags)) for key in keys]
        return sum(others, first)

    def adagrad(self, keys: Sequence[Any], gradient: Vector, eta: float, epsilon: float) -> None:
        """G += g^2, W -= eta g / sqrt(G + epsilon)."""
        for key in keys:
            weights, sums = self.weights.of(key, gradient.size), self.sums.of(key, gradient.size)
            sums += gradient**2
            weights -= eta * gradient / np.sqrt(sums + epsilon)

    def emissions(self, tokens: Sequence[Token]) -> Vector:
        """[n, tags]."""
        return np.array([self.score(token.features) for token in tokens])

    def transitions(self) -> Vector:
        """[tags + 1, tags]; the row 0 is the start's."""
        return np.array([self.score([("after", j)]) for j in (START, *range(len(self.tags)))])


def parts(
    tokens: Sequence[Token], codes: list[int | None], guess: Guess | None
) -> Iterator[tuple[Sequence[Token], list[int | None], int]]:
    """The parts of a sentence, each with the row of transitions to its first tag: from the true tag, or the guessed."""
    for begin in range(0, len(tokens), PART):
        before = codes[begin - 1] if begin else -1
        if before is None:
            before = guess.tags[begin - 1] if guess else -1
        yield tokens[begin : begin + PART], codes[begin : begin + PART], before + 1


def viterbi(scores: Vector, transitions: Vector, start: int = 0) -> tuple[list[int], float, float]:
    """The best tags, their score, and their margin. scores [n, tags], transitions [tags + 1, tags]."""
    delta, back, margins = scores[0] + transitions[start], [], []
    for own in scores[1:]:
        candidates = delta[:, None] + transitions[1:]
        back.append(candidates.argmax(axis=0))
        margins.append(gap(candidates))
        delta = candidates.max(axis=0) + own
    path, margin = [int(delta.argmax())], float(gap(delta[:, None])[0])
    for origin, margin_before in zip(reversed(back), reversed(margins), strict=True):
        margin = min(margin, float(margin_before[path[-1]]))
        path.append(int(origin[path[-1]]))
    return path[::-1], float(delta.max()), margin


def gap(candidates: Vector) -> Vector:
    """By how much the best of each column wins."""
    if candidates.shape[0] == 1:
        return np.full(candidates.shape[1], np.inf)
    two: Vector = np.partition(candidates, -2, axis=0)[-2:]
    return two[1] - two[0]


class NaiveCRF(Linear):
    """Forward and backward sums as matrix products, without tags whose filtered probability is not above `prune`."""

    def __init__(
        self, eta: float = 0.2, epsilon: float = 1e-3, prune: float = 1e-3, skip: float = 1e-2, counts: bool = False
    ) -> None:
        super().__init__()
        self.eta, self.epsilon, self.prune, self.skip = eta, epsilon, prune, skip
        self.counts = Contexts() if counts else None
        self.count_weight, self.count_square = 0.75, 0.0

    def scores(self, tokens: Sequence[Token], before: int) -> tuple[Vector, Vector]:
        """Emissions of all tags, and what the counts say of the first `before` of them (0 of the others)."""
        scores = self.emissions(tokens)
        logs = np.zeros_like(scores)
        if self.counts is not None and before:
            priors = self.counts.priors(before)
            ratios = np.array([self.counts.probabilities(token, before, 1.0) / priors for token in tokens])
            logs[:, :before] = np.log(np.maximum(ratios, 1e-6))
        return scores + self.count_weight * logs, logs

    def guess(self, tokens: Sequence[Token]) -> Guess:
        scores, transitions = self.scores(tokens, len(self.tags))[0], self.transitions()
        tags, best, margin = viterbi(scores, transitions)
        log_z = self.sums_of(scores, transitions)[0]
        self._before = len(self.tags)
        return Guess(tags, min(1.0, float(np.exp(best - log_z))), margin)

    def sums_of(self, scores: Vector, transitions: Vector, start: int = 0) -> tuple[float, Vector, Vector]:
        """log Z, posteriors [n, tags], expected transitions [tags + 1, tags]."""
        factors, alphas, log_z = np.exp(transitions), [], 0.0
        for t, own in enumerate(scores):
            a = np.exp(own - own.max()) * (factors[start] if t == 0 else alphas[-1] @ factors[1:])
            a = np.where(a > self.prune * a.sum(), a, 0.0)
            log_z += np.log(a.sum()) + own.max()
            alphas.append(a / a.sum())
        posteriors, pairs = np.zeros_like(scores), np.zeros_like(transitions)
        posteriors[-1] = alphas[-1]
        for t in range(len(scores) - 1, 0, -1):
            joint = alphas[t - 1][:, None] * factors[1:]
            flow = joint.sum(axis=0)
            joint *= np.where(posteriors[t] > 0, posteriors[t] / np.where(flow > 0, flow, 1.0), 0.0)
            pairs[1:] += joint
            posteriors[t - 1] = joint.sum(axis=1)
        pairs[start] += posteriors[0]
        return float(log_z), posteriors, pairs

    def learn(self, tokens: Sequence[Token], codes: list[int | None], weight: float, guess: Guess | None) -> None:
        for own, known, start in parts(tokens, codes, guess):
            self._learn_part(own, known, weight, self._before if guess else 0, start)
        if self.counts is not None:
            for token, code in zip(tokens, codes, strict=True):
                self.counts.count(token, code, weight)

    def _learn_part(
        self, tokens: Sequence[Token], codes: list[int | None], weight: float, before: int, start: int
    ) -> None:
        scores, logs = self.scores(tokens, before)
        transitions = self.transitions()
        _, errors, pairs = self.sums_of(scores, transitions, start)
        fixed = scores.copy()
        for t, code in enumerate(codes):
            if code is not None:
                fixed[t, np.arange(len(self.tags)) != code] = -1e30
        with np.errstate(under="ignore"):
            _, true_errors, true_pairs = self.sums_of(fixed, transitions, start)
        errors, pairs = errors - true_errors, pairs - true_pairs
        for token, error in zip(tokens, errors, strict=True):
            self.adagrad(token.features, weight * self._kept(error), self.eta, self.epsilon)
        for j, error in zip((START, *range(len(self.tags))), pairs, strict=True):
            self.adagrad([("after", j)], weight * self._kept(error), self.eta, self.epsilon)
        if self.counts is not None:
            g = weight * float((errors * logs).sum())
            self.count_square += g * g
            self.count_weight -= self.eta * g / np.sqrt(self.count_square + self.epsilon)

    def _kept(self, gradient: Vector) -> Vector:
        return np.where(np.abs(gradient) > self.skip, gradient, 0.0)


class NaiveLogLinear(Linear):
    """A beam of sequences, each a list of tags with the log of its probability.

    While a sentence is learned, weights of histories count as they are by then, those of features as they were before.
    """

    def __init__(self, eta: float = 0.2, epsilon: float = 1e-3, beam: int = 1, skip: float = 1e-2) -> None:
        super().__init__()
        self.eta, self.epsilon, self.beam, self.skip = eta, epsilon, beam, skip

    def guess(self, tokens: Sequence[Token]) -> Guess:
        kept: list[tuple[float, list[int]]] = [(0.0, [])]
        margin = np.inf
        for own in self.emissions(tokens):
            longer = [
                (total + log, [*path, k])
                for total, path in kept
                for k, log in enumerate(self._logs(own, self._histories(path)))
            ]
            longer.sort(key=lambda hypothesis: -hypothesis[0])
            margin = min([margin, *(a[0] - b[0] for a, b in itertools.pairwise(longer[: self.beam + 1]))])
            kept = longer[: self.beam]
        return Guess(kept[0][1], float(np.exp(kept[0][0])), float(margin))

    def learn(self, tokens: Sequence[Token], codes: list[int | None], weight: float, guess: Guess | None) -> None:
        own = [None] * len(tokens) if guess is None else guess.tags
        path = [other if code is None else code for code, other in zip(codes, own, strict=True)]
        for t, (token, scores, code) in enumerate(zip(tokens, self.emissions(tokens), codes, strict=True)):
            if code is None:
                continue
            histories = self._histories(path[:t])
            gradient = np.exp(self._logs(scores, histories))
            gradient[code] -= 1.0
            gradient = weight * np.where(np.abs(gradient) > self.skip, gradient, 0.0)
            if gradient.any():
                self.adagrad([*token.features, *histories], gradient, self.eta, self.epsilon)

    def _logs(self, scores: Vector, histories: list[Any]) -> Vector:
        """log P(k | token, the two tags before)."""
        scores = scores + self.score(histories)
        logs: Vector = scores - np.logaddexp.reduce(scores)
        return logs

    @staticmethod
    def _histories(path: Sequence[int | None]) -> list[Any]:
        """Features of the last two tags; an unknown tag is as the start."""
        second, first = [START, START, *path][-2:]
        return [("after", first), ("after both", second, first)]


class NaiveStructuredPerceptron(Linear):
    """Moves of single weights; the average by summing up all weights after each sentence."""

    def __init__(self, step: str = "adagrad", C: float = 0.1, eta: float = 0.1, epsilon: float = 1e-3) -> None:
        super().__init__(np.float32)
        self.kind, self.C, self.eta, self.epsilon = step, C, np.float32(eta), np.float32(epsilon)
        self.totals, self.clock = Table(), 0.0

    def guess(self, tokens: Sequence[Token]) -> Guess:
        last, scale = self.weights, 1.0
        if self.kind == "perceptron" and self.clock:
            self.weights, scale = self.totals, self.clock
        tags, _, margin = viterbi(self.emissions(tokens), self.transitions())
        self.weights = last
        return Guess(tags, None, margin / scale)

    def learn(self, tokens: Sequence[Token], codes: list[int | None], weight: float, guess: Guess | None) -> None:
        for own, known, start in parts(tokens, codes, guess):
            self._learn_part(own, known, weight, start)
        if self.kind == "perceptron":
            self.clock += weight
            for key, vector in self.weights.items():
                self.totals.of(key, vector.size)[: vector.size] += weight * vector

    def _learn_part(self, tokens: Sequence[Token], codes: list[int | None], weight: float, start: int) -> None:
        scores, transitions = self.emissions(tokens), self.transitions()
        fixed, costs = scores.copy(), scores.copy()
        for t, code in enumerate(codes):
            if code is not None:
                others = np.arange(len(self.tags)) != code
                fixed[t, others] = -1e30
                costs[t, others] += self.kind != "perceptron"
        truth, rival = viterbi(fixed, transitions, start)[0], viterbi(costs, transitions, start)[0]
        moves = list(_moves(tokens, truth, rival, start))
        size = np.float32(weight)
        if self.kind == "passive_aggressive" and moves:
            loss = np.float32(0.0)
            for t, (y, before_y, r, before_r) in enumerate(
                zip(truth, [start - 1, *truth], rival, [start - 1, *rival], strict=False)
            ):
                loss += costs[t, r] - costs[t, y]
                loss += transitions[before_r + 1, r] - transitions[before_y + 1, y]
            size *= np.float32(min(self.C, max(0.0, float(loss)) / len(moves)))
        for key, k, sign in moves:
            weights, sums = (table.of(key, len(self.tags)) for table in (self.weights, self.sums))
            if self.kind == "adagrad":
                sums[k] += size**2
                weights[k] += sign * self.eta * size / np.sqrt(sums[k] + self.epsilon)
            else:
                weights[k] += sign * size


def _moves(tokens: Sequence[Token], truth: list[int], rival: list[int], start: int) -> Iterator[tuple[Any, int, float]]:
    """Key, tag and sign of each weight that is of one of both sequences' features."""
    before: tuple[int | None, int | None] = (start - 1 if start else START, start - 1 if start else START)
    for token, y, r in zip(tokens, truth, rival, strict=True):
        if y != r:
            for feature in token.features:
                yield from ((feature, y, 1.0), (feature, r, -1.0))
        if y != r or before[0] != before[1]:
            yield from ((("after", before[0]), y, 1.0), (("after", before[1]), r, -1.0))
        before = (y, r)


class Contexts:
    """How often each context had each tag."""

    def __init__(self) -> None:
        self.counts, self.totals = Table(), defaultdict[Any, float](float)
        self.tags, self.total = np.zeros(0), 0.0

    def priors(self, n_tags: int) -> Vector:
        tags: Vector = np.concatenate([self.tags, np.zeros(n_tags)])[:n_tags]
        return (tags + 1 / n_tags) / (self.total + 1)

    def probabilities(self, token: Token, n_tags: int, theta: float) -> Vector:
        p = self.priors(n_tags)
        for context in token.contexts:
            if self.totals.get(context, 0.0) > 0:
                p = (self.counts.seen(context, n_tags) + theta * p) / (self.totals[context] + theta)
        return p

    def count(self, token: Token, code: int | None, weight: float) -> None:
        if code is None:
            return
        *parents, word = token.contexts
        for context in [*(parents if self.totals[word] < 10 else []), word]:
            self.counts.of(context, code + 1)[code] += weight
            self.totals[context] += weight
        self.tags = np.concatenate([self.tags, np.zeros(max(0, code + 1 - self.tags.size))])
        self.tags[code] += weight
        self.total += weight


class _State(NamedTuple):
    """The best sequence that ends with two tags, its probability, that of all of them, and its margin so far."""

    best: float
    total: float
    path: list[int]
    margin: float


class NaiveHMM(NaiveTagger):
    """Counts by dict; a search over pairs of tags."""

    def __init__(self, order: int = 2, theta: float = 1.0, alpha: float = 5.0) -> None:
        super().__init__()
        self.order, self.theta, self.alpha = order, theta, alpha
        self.contexts, self.after = Contexts(), Table()

    def guess(self, tokens: Sequence[Token]) -> Guess:
        n = len(self.tags)
        priors = self.contexts.priors(n)
        states: dict[tuple[int | None, int | None], _State] = {(START, START): _State(1.0, 1.0, [], np.inf)}
        for token in tokens:
            p = self.contexts.probabilities(token, n, self.theta)
            states = self._continued(states, _likely(p), p / priors, priors)
        ranked = sorted(states.values(), key=lambda state: -state.best)
        best, others = ranked[0], ranked[1:]
        margin = min(best.margin, np.log(best.best / others[0].best) if others else np.inf)
        return Guess(best.path, best.best / sum(state.total for state in ranked), margin)

    def _continued(self, states: Any, tags: list[int], ratios: Vector, priors: Vector) -> Any:
        candidates = defaultdict[Any, list[_State]](list)
        for (second, first), (best, total, path, margin) in states.items():
            if best < 1e-6:
                continue
            p = self.following(second, first, priors) * ratios
            for k in tags:
                candidates[first, k].append(_State(best * p[k], total * p[k], [*path, k], margin))
        top = max(state.best for found in candidates.values() for state in found)
        return {key: _merged(found, top) for key, found in candidates.items()}

    def following(self, second: int | None, first: int | None, priors: Vector) -> Vector:
        """P(k | the two tags before)."""
        p = priors
        for history in [(first,), (second, first)][: self.order]:
            counts = self.after.seen(history, priors.size)
            p = (counts + self.alpha * p) / (counts.sum() + self.alpha)
        return p

    def learn(self, tokens: Sequence[Token], codes: list[int | None], weight: float, guess: Guess | None) -> None:
        known: list[Any] = [START, START, *(code if code is not None else "unknown" for code in codes)]
        for token, code, second, first in zip(tokens, codes, known, known[1:], strict=False):
            self.contexts.count(token, code, weight)
            for history in [(first,), (second, first)][: self.order]:
                if code is not None and "unknown" not in history:
                    self.after.of(history, code + 1)[code] += weight


def _likely(p: Vector) -> list[int]:
    """At most 16 tags, at least a thousandth as probable as the best one."""
    least = p.max() * 1e-3
    while True:
        found = np.flatnonzero(p >= least).tolist()
        if len(found) <= 16 or least >= p.max():
            return found[:16]
        least = min(2 * least, p.max())


def _merged(found: list[_State], top: float) -> _State:
    """The best of several sequences that end alike, and the sum of all."""
    ranked = sorted(found, key=lambda state: -state.best)
    margin = np.log(ranked[0].best / ranked[1].best) if len(ranked) > 1 else np.inf
    return _State(
        ranked[0].best / top, sum(state.total for state in found) / top, ranked[0].path, min(margin, ranked[0].margin)
    )
