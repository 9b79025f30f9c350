"""What is counted about taggers, sentence by sentence, as lists."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from tests.naive_spans import compared


class Judged(NamedTuple):
    """A sentence: words, tags and their predictions (None: unknown, no prediction), and a weight."""

    words: Sequence[str]
    tags: Sequence[str | None]
    predicted: Sequence[Sequence[str | None]]
    weight: float


Figures = dict[str, float | None]


class NaiveTagging:
    """All labelled sentences, and for each predictor what it made of them; the last predictor is the baseline."""

    def __init__(self, learners: int, window: int, fading: float) -> None:
        self.learners, self.window, self.fading = learners, window, fading
        self.sentences: list[tuple[Judged, list[Sequence[str | None]], list[bool]]] = []
        self.leads: list[int] = []
        self.words: dict[str, Counter[str]] = defaultdict(Counter)
        self.tags: Counter[str] = Counter()

    def step(self, sentence: Judged) -> list[str | None]:
        """Count a sentence; what the baseline predicts for it."""
        top = self._commonest(self.tags)
        known = [word in self.words for word in sentence.words]
        guess = [self._commonest(self.words[word]) if word in self.words else top for word in sentence.words]
        hits = [sum(weighted[0] for weighted in self._weighted(m, self.sentences)) for m in range(self.learners)]
        self.leads.append(max(range(self.learners), key=lambda m: (hits[m], -m)))
        if sentence.weight > 0 and any(sentence.tags):
            self.sentences.append((sentence, [*sentence.predicted, guess], known))
            for word, tag in zip(sentence.words, sentence.tags, strict=True):
                if tag is not None:
                    self.words[word][tag] += sentence.weight  # type: ignore[assignment]  # a number
                    self.tags[tag] += sentence.weight  # type: ignore[assignment]
        return guess

    def _commonest(self, counts: "Counter[str]") -> str | None:
        """Of equally common tags the one that was seen first, with any word."""
        order = {tag: number for number, tag in enumerate(self.tags)}
        return max(counts, key=lambda tag: (counts[tag], -order[tag]), default=None)

    def _weighted(self, m: int, sentences: Sequence[tuple[Judged, list[Sequence[str | None]], list[bool]]]):  # type: ignore[no-untyped-def]
        """Of each sentence: weighted hits and tokens."""
        for (_, tags, _, weight), predicted, _ in sentences:
            hits = sum(tag is not None and tag == guess for tag, guess in zip(tags, predicted[m], strict=True))
            yield weight * hits, weight * sum(tag is not None for tag in tags)

    def figures(self, m: int, span: str = "running") -> Figures:
        """The metrics of a predictor over a span."""
        sentences = self.sentences[-self.window :] if span == "window" else self.sentences
        n = len(sentences)
        sums: Counter[str] = Counter()
        for i, ((_, tags, _, weight), predicted, known) in enumerate(sentences):
            weight *= self.fading ** (n - 1 - i) if span == "fading" else 1.0
            own, whole = predicted[m], None not in tags
            for tag, guess, seen in zip(tags, own, known, strict=True):
                if tag is not None:
                    sums["tokens"] += weight  # type: ignore[assignment]
                    sums["hits"] += weight * (tag == guess)  # type: ignore[assignment]
                    sums["known"] += weight * seen  # type: ignore[assignment]
                    sums["known hits"] += weight * (seen and tag == guess)  # type: ignore[assignment]
            if whole:
                spans = compared(tags, own)
                sums["whole"] += weight  # type: ignore[assignment]
                sums["right"] += weight * (list(tags) == list(own))  # type: ignore[assignment]
                sums["true spans"] += weight * spans.true  # type: ignore[assignment]
                sums["spans"] += weight * spans.predicted  # type: ignore[assignment]
                sums["right spans"] += weight * spans.right  # type: ignore[assignment]
        return {
            "accuracy": ratio(sums["hits"], sums["tokens"]),
            "sentences_right": ratio(sums["right"], sums["whole"]),
            "f1": ratio(2 * sums["right spans"], sums["spans"] + sums["true spans"]),
            "precision": ratio(sums["right spans"], sums["spans"]),
            "recall": ratio(sums["right spans"], sums["true spans"]),
            "known_accuracy": ratio(sums["known hits"], sums["known"]),
            "unknown_accuracy": ratio(sums["hits"] - sums["known hits"], sums["tokens"] - sums["known"]),
        }

    def interval(self, m: int) -> tuple[float, float] | None:
        """a ± 1.96 s; weights aside."""
        counts = [
            (
                sum(tag is not None and tag == guess for tag, guess in zip(s.tags, predicted[m], strict=True)),
                sum(tag is not None for tag in s.tags),
            )
            for s, predicted, _ in self.sentences
        ]
        tokens = sum(n for _, n in counts)
        if not tokens:
            return None
        share = sum(hits for hits, _ in counts) / tokens
        margin = 1.959963984540054 * sqrt(sum((hits - share * n) ** 2 for hits, n in counts)) / tokens
        return max(0.0, share - margin), min(1.0, share + margin)

    def better(self, a: int, b: int, window: bool = False) -> int:
        """In how many sentences a had more tokens right than b."""
        sentences = self.sentences[-self.window :] if window else self.sentences
        pairs = zip(self._weighted(a, sentences), self._weighted(b, sentences), strict=True)
        return sum(ours[0] > theirs[0] for ours, theirs in pairs)


def ratio(part: float, whole: float) -> float | None:
    return part / whole if whole > 1e-12 else None
