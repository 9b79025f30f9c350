"""The bigram language models in plain Python, on pairs of words: twins of `streamlin.evaluation.surprise`."""

from collections import Counter
from collections.abc import Sequence
from math import log2

START = "<start>"
"""Before the first word of a text; not a word."""


class NaiveLanguageModel:
    """pairs : how often each pair of neighbours was seen. most : pairs are not added beyond."""

    def __init__(self, model: str, most: int = 10**9) -> None:
        self.model, self.most = model, most
        self.pairs: Counter[tuple[str, str]] = Counter()

    def learn(self, words: Sequence[str]) -> None:
        """Count the pairs of a text; behind a word that could not be added nothing is."""
        before = START
        for word in words:
            has_room = (before, word) in self.pairs or len(self.pairs) < self.most
            if has_room and (before == START or before in self.words()):
                self.pairs[before, word] += 1
            before = word

    def words(self) -> set[str]:
        """All that are known."""
        return {word for _, word in self.pairs}

    def alone(self, word: str | None) -> float:
        """P(w); None: of a word that is not known yet."""
        known = len(self.words())
        if not known:
            return 1.0
        uniform = 1 / (known + 1)
        if self.model == "witten_bell":
            count = sum(n for (_, w), n in self.pairs.items() if w == word)
            return (count + known * uniform) / (self.pairs.total() + known)
        preceders = Counter(w for _, w in self.pairs)
        d = discount(preceders)
        own = preceders[word] - d if word in preceders else 0
        return (own + d * known * uniform) / len(self.pairs)

    def behind(self, before: str, word: str | None) -> float:
        """P(w | u)."""
        followers = {w: n for (u, w), n in self.pairs.items() if u == before}
        share, total = self.alone(word), sum(followers.values())
        if not total:
            return share
        count = followers.get(word, 0) if word is not None else 0
        if self.model == "witten_bell":
            return (count + len(followers) * share) / (total + len(followers))
        d = discount(self.pairs)
        return (max(count - d, 0) + d * len(followers) * share) / total

    def bits(self, words: Sequence[str]) -> float | None:
        """A word of a text; None if it has none."""
        known = self.words()
        pairs = zip([START, *words], words, strict=False)
        bits = [-log2(self.behind(u, w if w in known else None)) for u, w in pairs]
        return sum(bits) / len(bits) if bits else None


def discount(counts: Counter[object]) -> float:
    """n1 / (n1 + 2 n2), between 0.1 and 0.9."""
    once, twice = (sum(n == times for n in counts.values()) for times in (1, 2))
    return min(0.9, max(0.1, once / (once + 2 * twice))) if once else 0.1
