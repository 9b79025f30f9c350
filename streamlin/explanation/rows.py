"""An explanation as rows of cells, for tables of whatever kind."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.explanation.found import Feature
from streamlin.explanation.parts import centred
from streamlin.explanation.reasons import Reasons
from streamlin.explanation.shown import ngrams_shown, shown

MOST_LABELS = 5
"""Labels that have a column, the best scored ones."""


class Rows(NamedTuple):
    """One learner's reasons.

    title : what it predicts. labels : the titles of columns of numbers, the predicted one first.
    reasons : a name and a number for each of the labels, heaviest first. rest : the others, the base, the sum.
    remark : what is to be said of what is not known; empty where that is nothing.
    """

    title: str
    labels: list[str]
    reasons: list[tuple[str, NDArray[np.float64]]]
    rest: list[tuple[str, NDArray[np.float64]]]
    remark: str


def rows_of(reasons: Reasons, top: int) -> Rows:
    """Numbers are less their mean over all labels, so that what speaks for a label is above 0."""
    codes = reasons.ranked[:MOST_LABELS]
    heaviest, others = reasons.heaviest(top)
    views = len(reasons.found) > 1
    left = len(reasons.added) - len(heaviest)
    rest = [(f"{left:,} more", others)] if left else []
    rest += [(reasons.base_name, reasons.base), ("score", reasons.scores)] if codes else []
    return Rows(
        _title(reasons),
        [shown(reasons.labels[code], 24) for code in codes],
        [(_name(reason.feature, views), centred(reason.added)[codes]) for reason in heaviest],
        [(name, centred(numbers)[codes]) for name, numbers in rest],
        _remark(reasons, len(codes)),
    )


def _title(reasons: Reasons) -> str:
    name = shown(reasons.learner, 60)
    if reasons.predicted is None:
        return f"{name}: no label is known yet"
    sure = "" if reasons.confidence is None else f", confidence {reasons.confidence:.6g}"
    return f"{name}: {shown(reasons.predicted, 60)}{sure}"


def _name(feature: Feature, views: bool) -> str:
    """The n-grams, how often they are there if that counts, of several views which, and what else is in the bucket."""
    times = f" × {feature.times:,}" if feature.times > 1 and feature.value != 1.0 else ""
    view = f" ({shown(feature.view, 30)})" if views else ""
    also = f" [also {ngrams_shown(feature.also)}]" if feature.also else ""
    return f"{ngrams_shown(feature.ngrams)}{times}{view}{also}"


def _remark(reasons: Reasons, n_labels: int, most: int = 5) -> str:
    said = []
    if len(reasons.labels) > n_labels:
        said.append(f"{len(reasons.labels) - n_labels:,} more labels score lower.")
    if reasons.n_unseen:
        examples: Sequence[str] = [ngrams_shown([ngram]) for ngram in reasons.unseen(most)]
        more = ", …" if reasons.n_unseen > most else ""
        total = reasons.n_unseen + len(reasons.added)
        said.append(f"Not known: {reasons.n_unseen:,} of {total:,} features: {', '.join(examples)}{more}")
    return " ".join(said)


def number_shown(number: float) -> str:
    """With its sign and three decimals."""
    return f"{round(number, 3) + 0.0:+.3f}"  # no -0.000
