"""A learner's scores of one text as a sum: the score without any feature, and the contribution of each feature."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.features.rows import Examples
from streamlin.learners import Learner, Mixture, no_targets

Scores = NDArray[np.float64]


class Decomposition(NamedTuple):
    """score_k = base_k + sum over all views and features j of added_jk.

    base : float64[K]. added : float64[m, K] by view, for the m features of the text that have a row there.
    """

    base: Scores
    added: dict[str, Scores]


def decompose_learner(learner: Learner, known: Mapping[str, int], examples: Examples, n_labels: int) -> Decomposition:
    """The decomposition for a learner; `examples` is the text. known : by view, how many features have a row.

    The base is its bias or prior: the scores of a text without features.
    """
    base = np.empty((1, n_labels))
    nothing = Examples(np.zeros(2, np.int64), examples.rows[:0], examples.values[:0], examples.rows_before)
    learner.grow(int(examples.rows_before[0]), n_labels)
    learner.score_then_learn(nothing, no_targets(1, n_labels), base)
    added, ends = learner.contributions(examples, n_labels), np.cumsum([*known.values()])
    return Decomposition(base[0], dict(zip(known, np.split(added, ends[:-1]), strict=True)))


def decompose_mixture(mixture: Mixture, members: Sequence[Decomposition], scores: Scores) -> Decomposition:
    """The decomposition for a mixture of members with scores float64[M, K].

    It is the weighted sum of the members' decompositions, each less its mean over labels. This is exact where the
    mixture is linear. Its other operations on the whole text (the temperature, which depends on its confidence, and
    the shift of the best label's score to 0) are treated as constants: see `Mixture.linear`.
    """
    n_labels = scores.shape[1]
    factors, shift = mixture.linear(scores) if n_labels else (scores, 0.0)
    base, added = np.full(n_labels, -shift), dict[str, Scores]()
    for factor, parts in zip(factors, members, strict=True):
        for view, rows in parts.added.items():
            added.setdefault(view, np.zeros(rows.shape))
            if factor.any():  # otherwise its scores may have overflowed
                added[view] += factor * centred(rows)
        if factor.any():
            base += factor * centred(parts.base)
    return Decomposition(base, added)


def centred(scores: Scores) -> Scores:
    """Scores [..., K] less their mean over labels: what is equal for all labels favours none."""
    if not scores.shape[-1]:
        return scores
    with np.errstate(all="ignore"):  # they may have overflowed
        means: Scores = scores.mean(axis=-1, keepdims=True)
        return scores - means
