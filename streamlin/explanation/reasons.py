"""The reasons for one learner's prediction of a text."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.explanation.decomposition import centred
from streamlin.explanation.text_features import Feature, TextFeatures


class Reason(NamedTuple):
    """A feature, and float64[K], its contribution to each label's score."""

    feature: Feature
    added: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Reasons:
    """A learner's scores of a text, and the terms that they are the sums of::

        scores_k = base_k + sum_j added_jk

    learner, kind : its name, and its kind.
    labels : K, in order of first sight.
    scores : float64[K], from which it predicts. confidence : in its prediction; None without a prediction.
    base : float64[K], its bias; for naive Bayes the logarithm of the prior.
    views : the features of the text in each view that it reads.
    added : float64[m, K]; of the known features of `views[0]`, then those of `views[1]`, and so on.
    """

    learner: str
    kind: str
    labels: Sequence[str]
    scores: NDArray[np.float64]
    confidence: float | None
    base: NDArray[np.float64]
    views: Sequence[TextFeatures]
    added: NDArray[np.float64]

    @property
    def predicted(self) -> str | None:
        """The predicted label; None if no label is known."""
        return self.labels[self.ranked[0]] if self.labels else None

    @property
    def ranked(self) -> list[int]:
        """The codes of all labels by descending score; ties in order of first sight."""
        codes: list[int] = np.argsort(-self.scores, kind="stable").tolist()
        return codes

    @property
    def base_name(self) -> str:
        """The usual name of the base."""
        return "prior" if self.kind == "naive_bayes" else "bias"

    @property
    def n_unseen(self) -> int:
        """The number of features of the text that have no row, because too few learned events contained them."""
        return sum(view.buckets.size - view.known.size for view in self.views)

    def heaviest(self, most: int) -> tuple[list[Reason], NDArray[np.float64]]:
        """The features with the largest influence, in either direction, on the predicted label's score.

        The influence is the contribution to its score less the mean contribution to all labels. Returns up to `most`
        features, the heaviest first, and float64[K], the sum of the others.
        """
        if not self.labels:
            return [], np.zeros(0)
        weights = np.abs(centred(self.added)[:, self.ranked[0]])
        order = np.argsort(-weights, kind="stable")
        chosen = order[:most]
        return self._reasons(chosen), self.added[order[most:]].sum(axis=0)

    def unseen(self, most: int) -> list[str]:
        """The first n-grams of the text, up to `most`, that have no row."""
        return [ngram for view in self.views for ngram in view.unseen(most)][:most]

    def to_dict(self, top: int) -> dict[str, Any]:
        """JSON-able, with the `top` heaviest features; None for a score that overflowed."""
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
        """The reasons of some known features, which are numbered through all views."""
        features: dict[int, Feature] = {}
        first = 0
        for view in self.views:
            own = numbers[(numbers >= first) & (numbers < first + view.known.size)]
            features |= zip(own.tolist(), view.features(view.known[own - first]), strict=True)
            first += view.known.size
        return [Reason(features[number], self.added[number]) for number in numbers.tolist()]

    def _by_label(self, values: NDArray[np.float64]) -> dict[str, float | None]:
        pairs = zip(self.labels, values.tolist(), strict=True)
        return {label: value if isfinite(value) else None for label, value in pairs}
