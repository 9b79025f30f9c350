"""Clusterers in plain Python: one text at a time, words by name."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

Text = Mapping[str, float]
Found = tuple[int | None, float | None, bool]


class NaiveLeader:
    """Leader clustering, or k-means with `fixed`, on dictionaries."""

    def __init__(self, clusters: int, similarity: float = 0.1, fixed: bool = False) -> None:
        self.most, self.similarity, self.fixed = clusters, similarity, fixed
        self.clusters: list[dict[str, float]] = []
        self.weights: list[float] = []
        self.numbers: list[int] = []
        self.seen: Counter[str] = Counter()
        self.n, self.made = 0.0, 0

    def learn(self, text: Text, weight: float = 1.0) -> Found:
        x = {w: max(0.0, v * math.log((self.n + 1) / (self.seen[w] + 0.5))) for w, v in text.items()}
        square = sum(v * v for v in x.values())
        cosines = [
            sum(v * own.get(w, 0.0) for w, v in x.items()) / math.sqrt(sum(s * s for s in own.values()) * square)
            if square
            else 0.0
            for own in self.clusters
        ]
        top = max(cosines, default=0.0)
        best = cosines.index(top) if cosines else None
        is_full = len(self.clusters) == self.most
        begins = (top < 0.999 and not is_full) if self.fixed else top < self.similarity
        found: Found = (None, None, False)
        if square and begins:
            found = (None, top, True)
            if weight:
                best = self._begin()
                found = (self.numbers[best], top, True)
        elif square:
            assert best is not None
            found = (self.numbers[best], top, False)
        if weight:
            if square and best is not None:
                self.weights[best] += weight
                for w, v in x.items():
                    self.clusters[best][w] = self.clusters[best].get(w, 0.0) + weight * v
            self.n += weight
            for w in text:
                self.seen[w] += weight  # type: ignore[assignment]  # weights are numbers
        return found

    def _begin(self) -> int:
        self.made += 1
        if len(self.clusters) < self.most:
            self.clusters.append({})
            self.weights.append(0.0)
            self.numbers.append(self.made)
            return len(self.clusters) - 1
        slot = self.weights.index(min(self.weights))
        self.clusters[slot], self.weights[slot], self.numbers[slot] = {}, 0.0, self.made
        return slot


class NaiveSoftKMeans:
    """A mixture of multinomials by incremental EM, on dictionaries."""

    def __init__(self, clusters: int, a: float = 3.0) -> None:
        self.most, self.a = clusters, a
        self.counts: list[Counter[str]] = []
        self.texts: list[float] = []

    def learn(self, text: Text, weight: float = 1.0) -> Found:
        q = self._shares(text)
        if not text:
            return None, None, False
        best = max(range(len(q)), key=q.__getitem__) if q else None
        top = None if best is None else q[best]
        new = len(self.counts) < self.most
        if new and not weight:
            return None, top, True
        if new:
            best = len(self.counts)
            self.counts.append(Counter())
            self.texts.append(0.0)
            q = [0.0] * best + [1.0]
        if weight:
            for k, share in enumerate(q):
                self.texts[k] += weight * share
                for w, v in text.items():
                    self.counts[k][w] += weight * share * v  # type: ignore[assignment]  # counts are numbers
        assert best is not None
        return best + 1, top, new

    def _shares(self, text: Text) -> list[float]:
        words = [sum(own.values()) for own in self.counts]
        scores = []
        for k, own in enumerate(self.counts):
            share = words[k] / sum(words)
            score = math.log(self.texts[k])
            for w, v in text.items():
                total = sum(other[w] for other in self.counts)
                score += v * math.log((own[w] + self.a * share) / ((total + self.a) * share))
            scores.append(score)
        raised = [math.exp(score - max(scores)) for score in scores]
        shares = [one / sum(raised) for one in raised]
        return [0.0 if one < 1e-6 else one for one in shares]


def agreement(clusters: Sequence[object], labels: Sequence[object]) -> tuple[float, float]:
    """Normalized mutual information and purity."""
    n = len(labels)
    joint, own, true = Counter(zip(clusters, labels, strict=True)), Counter(clusters), Counter(labels)
    information = sum(c / n * math.log(c * n / (own[k] * true[y])) for (k, y), c in joint.items())
    entropies = [-sum(c / n * math.log(c / n) for c in counts.values()) for counts in (own, true)]
    most: Counter[object] = Counter()
    for (k, _), c in joint.items():
        most[k] = max(most[k], c)
    return (1.0 if not sum(entropies) else 2 * information / sum(entropies)), sum(most.values()) / n
