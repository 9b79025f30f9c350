"""Generalized iterative scaling in plain Python: the maximum-entropy model that has the expectations of its data.

Darroch, Ratcliff, Annals of Mathematical Statistics 43 (1972) 1470-1480.
"""

from collections import Counter
from collections.abc import Sequence
from math import exp, log

Example = tuple[tuple[str, ...], str]
"""The features of an event, as many for each one, and its tag."""


class MaximumEntropy:
    """P(k | x) = exp(sum of the weights of x's features for k) / Z."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.examples, self.tags = examples, sorted({tag for _, tag in examples})
        self.empirical = Counter((feature, tag) for features, tag in examples for feature in features)
        self.weights = dict.fromkeys(self.empirical, 0.0)

    def probabilities(self, features: Sequence[str]) -> dict[str, float]:
        shares = {tag: exp(sum(self.weights[feature, tag] for feature in features)) for tag in self.tags}
        return {tag: share / sum(shares.values()) for tag, share in shares.items()}

    def expected(self) -> "Counter[tuple[str, str]]":
        """How often the model expects each feature with each tag."""
        found: Counter[tuple[str, str]] = Counter()
        for features, _ in self.examples:
            for tag, p in self.probabilities(features).items():
                for feature in features:
                    found[feature, tag] += p  # type: ignore[assignment]  # a number
        return found

    def fit(self, iterations: int) -> None:
        """w += log(empirical / expected) / (features of an event)."""
        size = len(self.examples[0][0])
        for _ in range(iterations):
            expected = self.expected()
            for key, count in self.empirical.items():
                self.weights[key] += log(count / expected[key]) / size
