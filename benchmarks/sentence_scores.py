"""Scores of predicted tags, the same for every tool."""

from collections.abc import Sequence

import numpy as np

from streamlin.evaluation.tag_spans import count_spans, span_tags
from streamlin.events import LabelIndex


def score(true: Sequence[Sequence[str]], predicted: Sequence[Sequence[str | None]], spans: bool) -> float:
    """The share of tokens right, or the F1 of spans. Raises ValueError if the lengths differ."""
    labels = LabelIndex()
    pairs = [
        (labels.learn(own), labels.learn(guesses)) for own, guesses in zip(true, predicted, strict=True) if len(own)
    ]
    if any(own.size != guesses.size for own, guesses in pairs):
        raise ValueError("a sentence has more or fewer predicted tags than true ones")
    if not spans:
        return sum(int((own == guesses).sum()) for own, guesses in pairs) / sum(own.size for own, _ in pairs)
    marked = span_tags(["O" if name == "–" else name for name in labels.names])  # –: no tag is known yet
    if marked is None:
        raise ValueError("the tags mark no spans")
    found, total = np.zeros(3, np.int64), np.zeros(3, np.int64)
    for own, guesses in pairs:
        count_spans(own, guesses, marked.kinds, marked.types, found)
        total += found
    return 2 * int(total[2]) / int(total[0] + total[1])
