"""The rows of an explanation's tables, for the terminal and for HTML."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.explanation.decomposition import centred
from streamlin.explanation.printable import printable, printable_ngrams
from streamlin.explanation.reasons import Reasons
from streamlin.explanation.text_features import Feature

MOST_LABELS = 5
"""The number of labels that have a column, those with the best scores."""


class TableRows(NamedTuple):
    """One learner's reasons.

    title : the learner and its prediction. labels : the titles of the columns of numbers, the predicted label first.
    reasons : a name and a number for each label, the heaviest first. rest : the other features, the base, the sum.
    remark : about labels not shown and features not known; may be empty. head : the title of the first column.
    """

    title: str
    labels: list[str]
    reasons: list[tuple[str, NDArray[np.float64]]]
    rest: list[tuple[str, NDArray[np.float64]]]
    remark: str
    head: str = "n-gram"


def table_rows(reasons: Reasons, top: int) -> TableRows:
    """The rows of a learner's tables. The mean over labels is subtracted, so what speaks for a label is above 0."""
    codes = reasons.ranked[:MOST_LABELS]
    heaviest, others = reasons.heaviest(top)
    name_view = len(reasons.views) > 1
    left = len(reasons.added) - len(heaviest)
    rest = [(f"{left:,} more", others)] if left else []
    rest += [(reasons.base_name, reasons.base), ("score", reasons.scores)] if codes else []
    return TableRows(
        _title(reasons),
        [printable(reasons.labels[code], 24) for code in codes],
        [(_name(reason.feature, name_view), centred(reason.added)[codes]) for reason in heaviest],
        [(name, centred(numbers)[codes]) for name, numbers in rest],
        _remark(reasons, len(codes)),
    )


def _title(reasons: Reasons) -> str:
    name = printable(reasons.learner, 60)
    if reasons.predicted is None:
        return f"{name}: no label is known yet"
    confidence = "" if reasons.confidence is None else f", confidence {reasons.confidence:.6g}"
    return f"{name}: {printable(reasons.predicted, 60)}{confidence}"


def _name(feature: Feature, name_view: bool) -> str:
    """The n-grams, the number of occurrences if it counts, the view if there are several, and colliding n-grams."""
    times = f" × {feature.times:,}" if feature.times > 1 and feature.value != 1.0 else ""
    view = f" ({printable(feature.view, 30)})" if name_view else ""
    also = f" [also {printable_ngrams(feature.also)}]" if feature.also else ""
    return f"{printable_ngrams(feature.ngrams)}{times}{view}{also}"


def _remark(reasons: Reasons, n_labels: int, most: int = 5) -> str:
    sentences = []
    if len(reasons.labels) > n_labels:
        sentences.append(f"{len(reasons.labels) - n_labels:,} more labels score lower.")
    if reasons.n_unseen:
        examples: Sequence[str] = [printable_ngrams([ngram]) for ngram in reasons.unseen(most)]
        more = ", …" if reasons.n_unseen > most else ""
        total = reasons.n_unseen + len(reasons.added)
        sentences.append(f"Not known: {reasons.n_unseen:,} of {total:,} features: {', '.join(examples)}{more}")
    return " ".join(sentences)


def signed(number: float) -> str:
    """The number with its sign and three decimals."""
    return f"{round(number, 3) + 0.0:+.3f}"  # no -0.000
