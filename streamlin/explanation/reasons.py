"""Why one learner says what it says."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.explanation.found import Feature, Found
from streamlin.explanation.parts import centred


class Reason(NamedTuple):
    """A feature, and float64[K], what it adds to each label's score."""

    feature: Feature
    added: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Reasons:
    """A learner's scores of a text and what they are the sum of::

        scores_k = base_k + sum_j added_jk

    learner, kind : its name, and what it is.
    labels : K, in order of first sight.
    scores : float64[K], as it predicts by them. confidence : in its prediction; None if it makes none.
    base : float64[K], its bias; of naive Bayes the logarithm of the prior.
    found : the text in each view that it reads.
    added : float64[m, K]; the known features of `found[0]`, then those of `found[1]`, and so on.
    """

    learner: str
    kind: str
    labels: Sequence[str]
    scores: NDArray[np.float64]
    confidence: float | None
    base: NDArray[np.float64]
    found: Sequence[Found]
    added: NDArray[np.float64]

    @property
    def predicted(self) -> str | None:
        """The label that it gives; None where no label is known."""
        return self.labels[self.ranked[0]] if self.labels else None

    @property
    def ranked(self) -> list[int]:
        """Codes of all labels, the best scored first; ties in order of first sight."""
        codes: list[int] = np.argsort(-self.scores, kind="stable").tolist()
        return codes

    @property
    def base_name(self) -> str:
        """What the base is called in the literature."""
        return "prior" if self.kind == "naive_bayes" else "bias"

    @property
    def n_unseen(self) -> int:
        """How many features of the text have no row: events that were learned brought none, or too few."""
        return sum(found.buckets.size - found.known.size for found in self.found)

    def heaviest(self, most: int) -> tuple[list[Reason], NDArray[np.float64]]:
        """The features that move the predicted label's score most, against the mean of all labels, in either direction.

        Returns so many of them, the heaviest first, and float64[K], what the others add.
        """
        if not self.labels:
            return [], np.zeros(0)
        weights = np.abs(centred(self.added)[:, self.ranked[0]])
        order = np.argsort(-weights, kind="stable")
        chosen = order[:most]
        return self._reasons(chosen), self.added[order[most:]].sum(axis=0)

    def unseen(self, most: int) -> list[str]:
        """The first so many n-grams of the text that are not known."""
        return [ngram for found in self.found for ngram in found.unseen(most)][:most]

    def to_dict(self, top: int) -> dict[str, Any]:
        """JSON-able, with the `top` heaviest features; None for a score that has overflowed."""
        reasons, rest = self.heaviest(top)
        return {
            "predicted": self.predicted,
            "confidence": self.confidence,
            "scores": self._by_label(self.scores),
            "base": self._by_label(self.base),
            "features": [feature._asdict() | {"adds": self._by_label(added)} for feature, added in reasons],
            "rest": {"features": len(self.added) - len(reasons), "adds": self._by_label(rest)},
            "unseen": {"features": self.n_unseen, "ngrams": self.unseen(top)},
        }

    def _reasons(self, numbers: NDArray[np.int64]) -> list[Reason]:
        """Of some known features; their numbers count through those of all views."""
        features: dict[int, Feature] = {}
        first = 0
        for found in self.found:
            own = numbers[(numbers >= first) & (numbers < first + found.known.size)]
            features |= zip(own.tolist(), found.features(found.known[own - first]), strict=True)
            first += found.known.size
        return [Reason(features[number], self.added[number]) for number in numbers.tolist()]

    def _by_label(self, values: NDArray[np.float64]) -> dict[str, float | None]:
        pairs = zip(self.labels, values.tolist(), strict=True)
        return {label: value if isfinite(value) else None for label, value in pairs}
