"""A learner's scores of one text as a sum: what holds without any feature, and what each feature adds."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.features.rows import Examples
from streamlin.learners import Learner, Mixture, no_targets

Scores = NDArray[np.float64]


class Parts(NamedTuple):
    """score_k = base_k + sum over all views and features j of added_jk.

    base : float64[K]. added : float64[m, K] by view; the m features of the text that have a row there.
    """

    base: Scores
    added: dict[str, Scores]


def of_learner(learner: Learner, view: str, examples: Examples, n_labels: int) -> Parts:
    """Of a learner that reads a view, where the text is `examples`.

    The base is its bias or prior: what it scores a text without features.
    """
    base = np.empty((1, n_labels))
    nothing = Examples(np.zeros(2, np.int64), examples.rows[:0], examples.values[:0], examples.rows_before)
    learner.grow(int(examples.rows_before[0]), n_labels)
    learner.score_then_learn(nothing, no_targets(1, n_labels), base)
    return Parts(base[0], {view: learner.contributions(examples, n_labels)})


def of_mixture(mixture: Mixture, members: Sequence[Parts], scores: Scores) -> Parts:
    """Of a mixture of members that score float64[M, K]: theirs, less their mean over labels, times how it trusts each.

    This is exact as far as the pool is linear. What it does with the text as a whole (its temperature, which depends on
    how sure it is, and that the best label's pool is made 0) is taken for given: see `Mixture.linear`.
    """
    n_labels = scores.shape[1]
    factors, lift = mixture.linear(scores) if n_labels else (scores, 0.0)
    base, added = np.full(n_labels, -lift), dict[str, Scores]()
    for own, parts in zip(factors, members, strict=True):
        for view, rows in parts.added.items():
            added.setdefault(view, np.zeros(rows.shape))
            if own.any():  # else its scores may have overflowed
                added[view] += own * centred(rows)
        if own.any():
            base += own * centred(parts.base)
    return Parts(base, added)


def centred(scores: Scores) -> Scores:
    """Scores [..., K] less their mean over labels: what speaks for all labels alike speaks for none."""
    if not scores.shape[-1]:
        return scores
    with np.errstate(all="ignore"):  # they may have overflowed
        means: Scores = scores.mean(axis=-1, keepdims=True)
        return scores - means
