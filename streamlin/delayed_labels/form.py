"""What waits in a task, and what its labels are."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import CheckpointError
from streamlin.events import Batch
from streamlin.storage.arrays import Expected, expected


class Form:
    """Texts that have one label each. Other tasks have subclasses, such as `streamlin.tagging.late_tags.SentenceForm`.

    A label is one text in every task, which is what is compared, remembered and written to checkpoints.

    names : of the further fields of the events. learners : the number of learners. asks : whether some labels are
        asked for.
    learns_unlabelled : whether a text that no label can reach any more is learned without one: when it leaves the wait
        for good, and at once if it has no id. Not before, or it would be learned twice.
    misfits : the count of labels that can't be those of their text; () where every label can.
    array, columns : the name of the array of all codes in a checkpoint, and its shape behind the first axis.
    """

    misfits: tuple[str, ...] = ()
    array = "baselines"
    columns: tuple[int, ...] = (2,)

    def __init__(
        self, names: Sequence[str], learners: int, asks: bool = False, learns_unlabelled: bool = False
    ) -> None:
        self.names, self.learners, self.asks, self.learns_unlabelled = tuple(names), learners, asks, learns_unlabelled

    def labels(self, batch: Batch) -> Sequence[str | None]:
        """The label of each event; None for none."""
        return batch.labels

    def length(self, pieces: Sequence[str]) -> int:
        """The number of labels, or tags, that a text has, given what is kept of it. Raises CheckpointError if none."""
        return 1

    def misfit(self, label: str, length: int) -> str | None:
        """Why a label can't be that of a text of this `length`; None if it can."""
        return None

    def check(self, label: str) -> None:
        """Raise CheckpointError if no event has such a label."""

    def shape(self, pieces: Sequence[str]) -> tuple[int, ...]:
        """The shape of the codes of a text, given what is kept of it. Raises CheckpointError if no text is kept so."""
        return self.columns

    def most(self, n_labels: int) -> int:
        """The highest code, where so many labels are known."""
        return n_labels - 1

    def in_bounds(self, codes: NDArray[np.int32], known: int) -> bool:
        """Whether the codes of one text, with scores of so many labels, are possible."""
        return bool(((codes >= -1) & (codes < max(known, 1))).all())

    def packed(self, codes: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
        """The codes of all texts, for a checkpoint."""
        return np.concatenate([np.empty(0, np.int32), *(own.ravel() for own in codes)]).reshape(-1, *self.columns)

    def expected(self, n_labels: int) -> Expected:
        """What `packed` codes must be, where so many labels are known."""
        return expected(np.int32, None, *self.columns, lowest=-1, highest=self.most(n_labels))

    def unpacked(self, codes: NDArray[np.int32], pieces: Sequence[Sequence[str]]) -> list[NDArray[np.int32]]:
        """The codes of each text, given what is kept of it. Raises CheckpointError if they do not fit together."""
        shapes = [self.shape(own) for own in pieces]
        ends = np.cumsum([0, *map(math.prod, shapes)])
        if ends[-1] != codes.size:
            raise CheckpointError("the checkpoint's arrays of texts that wait for labels do not fit together")
        flat = codes.ravel()
        return [flat[end - math.prod(shape) : end].reshape(shape) for shape, end in zip(shapes, ends[1:], strict=True)]
