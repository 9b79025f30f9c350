"""The reasons for the tags that one tagger predicts for a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.explanation.decomposition import centred
from streamlin.explanation.tag_rows import MOST_TAGS
from streamlin.tagging.parts import Parts, Places
from streamlin.tagging.template_names import OUTSIDE, SentenceNames


@dataclass(frozen=True, eq=False, repr=False)
class TagReasons:
    """A tagger's scores of a sentence's tags, and the terms that they are the sums of.

    learner, kind : its name, and its kind.
    labels : the K tags known, in order of first sight.
    tokens : the m tokens. tags : int32[m], the predicted tags; -1 if none is known.
    confidence : in the whole sentence's tags; None if it has none.
    parts : the terms; None if no tag is known. names : of the features.
    known : bool[m, features], which of the features of `parts`, and then contexts, have a row.
    """

    learner: str
    kind: str
    labels: Sequence[str]
    tokens: Sequence[str]
    tags: NDArray[np.int32]
    confidence: float | None
    parts: Parts | None
    names: SentenceNames
    known: NDArray[np.bool_]

    @property
    def predicted(self) -> list[str | None]:
        """The predicted tags; None while no tag is known."""
        return [self.labels[code] if code >= 0 else None for code in self.tags.tolist()]

    def token(self, t: int) -> "TokenReasons":
        """The reasons for the tag of token t."""
        return TokenReasons(self, t)

    def to_dict(self, top: int) -> dict[str, Any]:
        """JSON-able, with the `top` heaviest features of each token."""
        each = [self.token(t).to_dict(top) for t in range(len(self.tokens))]
        return {"predicted": self.predicted, "confidence": self.confidence, "tokens": each}


class TokenReasons:
    """A tagger's scores of one token's tags, the other tags as predicted, and the terms that they are the sums of::

        scores_k = sum_j added_jk + sum_i beside_ik

    names : of the token's features. added : float64[n, K], what these add. known : bool[n], whether each was seen
    before; the others add nothing.
    beside : by name, float64[K], what the tags beside the token add.
    """

    def __init__(self, reasons: TagReasons, t: int) -> None:
        self.text, self.labels, self.code = reasons.tokens[t], reasons.labels, int(reasons.tags[t])
        self.names, self.known, self.added = list[str](), np.zeros(0, np.bool_), np.zeros((0, 0))
        self.beside, self._considered = dict[str, NDArray[np.float64]](), np.zeros(0, np.bool_)
        parts = reasons.parts
        if parts is None:
            return
        self.names, self.known = _names(reasons.names, parts, t), reasons.known[t]
        self.added = np.concatenate([parts.features[t], parts.contexts[t]]).astype(np.float64)
        for places, scores in (*parts.before.items(), *parts.after.items()):
            name = _beside(reasons.predicted, t, places)
            if name is not None:
                self.beside[name] = scores[t].astype(np.float64)
        self._considered = parts.considered[t]

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """float64[K]: each tag's score."""
        total = self.added.sum(axis=0)
        return sum(self.beside.values(), total)

    @property
    def predicted(self) -> str | None:
        """The predicted tag; None if none is known."""
        return self.labels[self.code] if self.code >= 0 else None

    @cached_property
    def ranked(self) -> list[int]:
        """The codes of the tags that the tagger considers: the predicted one, then the others by descending score."""
        order = np.argsort(-self.scores, kind="stable")
        others = order[self._considered[order] & (order != self.code)].tolist()
        return [self.code, *others] if self.code >= 0 else []

    def heaviest(self, most: int) -> tuple[list[tuple[str, NDArray[np.float64]]], NDArray[np.float64], int]:
        """The features with the largest influence, in either direction, on the predicted tag's score.

        The influence is what a feature adds to its score, less what it adds to all tags' on average. Returns up to
        `most` features with what they add, the heaviest first; float64[K], the sum of the others; and their number.
        """
        numbers = np.flatnonzero(self.known)
        if self.code < 0:
            return [], np.zeros(0), 0
        weights = np.abs(centred(self.added[numbers])[:, self.code])
        numbers = numbers[np.argsort(-weights, kind="stable")]
        rest = numbers[most:]
        return [(self.names[j], self.added[j]) for j in numbers[:most]], self.added[rest].sum(axis=0), rest.size

    @property
    def unseen(self) -> list[str]:
        """The features that no learned sentence had."""
        return [name for name, known in zip(self.names, self.known, strict=True) if not known]

    def to_dict(self, top: int) -> dict[str, Any]:
        """JSON-able, with the `top` heaviest features, for the tags with the best scores."""
        codes = self.ranked[:MOST_TAGS]
        features, rest, n_rest = self.heaviest(top)

        def by_tag(values: NDArray[np.float64]) -> dict[str, float]:
            return {self.labels[code]: float(values[code]) for code in codes}

        return {
            "token": self.text,
            "predicted": self.predicted,
            "scores": by_tag(self.scores),
            "features": [{"feature": name, "adds": by_tag(added)} for name, added in features],
            "rest": {"features": n_rest, "adds": by_tag(rest)},
            "beside": [{"feature": name, "adds": by_tag(added)} for name, added in self.beside.items()],
            "unseen": self.unseen,
        }


def _names(names: SentenceNames, parts: Parts, t: int) -> list[str]:
    """The names of the features, then of the contexts, that the tagger reads; some read only the ones or the others."""
    features = names.features(t)[: parts.features.shape[1]]
    contexts = names.contexts(t)[: parts.contexts.shape[1]]
    return [*features, *(f"counts of {name}" for name in contexts)] if features else contexts


def _beside(predicted: Sequence[str | None], t: int, places: Places) -> str | None:
    """The name of what the tags beside token t add, such as `tag-1=DET`; None if they are behind the sentence."""
    if not places:
        return "prior"
    if places[-1] > 0 and t + places[-1] >= len(predicted):
        return None
    tags = [predicted[t + place] if t + place >= 0 else OUTSIDE[0] for place in places]
    return f"{'|'.join(f'tag{place:+d}' for place in places)}={'|'.join(map(str, tags))}"
