"""Tags that arrive later than their sentences: what is kept of a sentence that waits, and of its prediction."""

from collections.abc import Sequence
from itertools import chain, pairwise

import msgspec
import numpy as np
from numpy.typing import NDArray

from streamlin.delayed_labels import Form, Plan
from streamlin.errors import CheckpointError
from streamlin.evaluation.tagging import EarlierTags, TagPredictions
from streamlin.events import Batch, Distinct, taken
from streamlin.formats.tokens import label_of, tags_of, values_of


class SentenceForm(Form):
    """Sentences, whose label is all of their tags, as JSON; see `Form`.

    further_columns : the number of further columns of tokens, whose values are kept as well.
    """

    misfits = ("wrong_length",)
    array = "predicted"
    columns = ()

    def __init__(self, names: Sequence[str], learners: int, further_columns: int) -> None:
        super().__init__(names, learners)
        self._parts = 1 + further_columns

    def labels(self, batch: Batch) -> list[str | None]:
        """The tags of each sentence as one text; None if none is known."""
        assert batch.pieces is not None
        assert batch.tokens is not None
        tags, bounds = batch.tokens.tags, pairwise(batch.pieces.tolist())
        if batch.label_only is None:
            return [label_of(tags[begin:end]) for begin, end in bounds]
        columns = zip(batch.labels, batch.label_only.tolist(), bounds, strict=True)
        return [label if only else label_of(tags[begin:end]) for label, only, (begin, end) in columns]

    def length(self, pieces: Sequence[str]) -> int:
        """The number of tokens; see `Form`."""
        try:
            lengths = {len(values_of(piece)) for piece in pieces}
        except msgspec.MsgspecError:
            lengths = set()
        if len(lengths) != 1 or len(pieces) != self._parts:
            raise CheckpointError("a sentence that waits for tags is no list of tokens and columns of that length")
        return lengths.pop()

    def misfit(self, label: str, length: int) -> str | None:
        """See `Form`."""
        n_tags = len(_tags(label))
        return None if n_tags == length else f"tags: {n_tags:,} for {length:,} tokens, expected as many"

    def check(self, label: str) -> None:
        """See `Form`."""
        _tags(label)

    def shape(self, pieces: Sequence[str]) -> tuple[int, ...]:
        """See `Form`."""
        return self.learners + 2, self.length(pieces)

    def most(self, n_labels: int) -> int:
        """See `Form`; codes that are no tags are 0 or 1."""
        return max(n_labels - 1, 1)

    def in_bounds(self, codes: NDArray[np.int32], known: int) -> bool:
        """See `Form`; `recall` compares them with the tags."""
        return bool((codes >= -1).all())


def _tags(label: str) -> list[str | None]:
    """The tags of a label; CheckpointError if it has none: only a checkpoint can bring such a label."""
    try:
        return tags_of(label)
    except msgspec.MsgspecError:
        raise CheckpointError(f"tags that came later are {label!r:.60}, expected a list of tags") from None


def tags_of_rows(labels: Sequence[str | None], bounds: NDArray[np.int64]) -> Distinct:
    """The tags of all tokens of n sentences, given the labels of these; None for unknown ones."""
    lengths = np.diff(bounds).tolist()
    each = ([None] * n if label is None else _tags(label) for label, n in zip(labels, lengths, strict=True))
    return Distinct.of(list(chain.from_iterable(each)))


def recall(plan: Plan, predictions: TagPredictions, bounds: NDArray[np.int64], n_tags: int) -> EarlierTags:
    """Replace the predictions of sentences that are learned now by those of when they arrived.

    bounds : int64[R + 1], of the tokens of the rows. Returns where the other predictions of that time are.
    """
    here, asked, before = plan.recalled()
    places, sources = taken(bounds, here)[1], taken(bounds, asked)[1]
    predictions.tags[:, places] = predictions.tags[:, sources]
    predictions.confidences[:, here] = predictions.confidences[:, asked]
    rows = np.array([row for row, _ in before], np.int64)
    old = taken(bounds, rows)[1]
    learners = len(predictions.tags)
    codes = np.concatenate([np.empty((learners + 2, 0), np.int32), *(text.codes for _, text in before)], axis=1)
    if codes[:-1].max(initial=-1) >= n_tags or codes.shape[1] != old.size:
        raise CheckpointError("sentences that wait for tags were predicted with tags that are not known")
    predictions.tags[:, old] = codes[:learners]
    for row, text in before:
        predictions.confidences[:, row] = text.scores[:, 0]
    return EarlierTags(places, sources, old, codes[learners], codes[learners + 1] == 1)


def keep(plan: Plan, predictions: TagPredictions, known: NDArray[np.bool_], bounds: NDArray[np.int64]) -> None:
    """Keep the predictions for the sentences that still wait. known bool[m] : whether each token's word was known."""
    if not plan.new:
        return
    codes = np.concatenate([predictions.tags, predictions.baselines, known[np.newaxis].astype(np.int32)])
    ends = bounds.tolist()
    plan.keep(
        lambda row: (
            predictions.confidences[:, row : row + 1].copy(),
            codes[:, ends[row] : ends[row + 1]].copy(),
        )
    )
