"""The labels of each key, which it numbers by first sight: one that was never seen with it is no candidate."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import CheckpointError
from streamlin.kernel import kernel
from streamlin.learners.targets import Targets
from streamlin.storage.arrays import Expected, expected


class KeyLabels:
    """The labels of the keys in all slots.

    code_of : int32[slots, width], the run's code of each label of a key. count : int64[slots], how many it has.
    """

    def __init__(self) -> None:
        self.code_of, self.count = np.zeros((0, 1), np.int32), np.zeros(0, np.int64)

    @property
    def width(self) -> int:
        """The labels for which the tables need room."""
        return self.code_of.shape[1]

    def grow(self, slots: int) -> None:
        """Make room for so many keys."""
        if slots > self.count.size:
            more = slots - self.count.size + slots // 4
            self.code_of = np.concatenate([self.code_of, np.zeros((more, self.width), np.int32)])
            self.count = np.append(self.count, np.zeros(more, np.int64))

    def assign(self, slots: NDArray[np.int32], goals: Targets) -> Targets:
        """The targets of n events with each key's own numbers; new labels of a key get the next ones."""
        codes, known, at = np.empty(slots.size, np.int32), np.empty(slots.size, np.int64), 0
        while True:
            at = assign_key_labels(slots, goals.codes, at, self.code_of, self.count, codes, known)
            if at == slots.size:
                return Targets(codes, known, goals.weights)
            self.code_of = np.concatenate([self.code_of, np.zeros((self.count.size, 1), np.int32)], axis=1)

    def has(self, slot: int, code: int) -> bool:
        """Whether a key has seen a label."""
        return code in self.code_of[slot, : self.count[slot]]

    def free(self, slots: NDArray[np.int32]) -> None:
        """Forget the labels of some keys."""
        self.count[slots] = 0

    def state(self, slots: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
        """The labels of these keys, key by key, and how many each has."""
        counts = self.count[slots]
        return {"label_counts": counts, "labels": self.code_of[slots][np.arange(self.width) < counts[:, None]]}

    def expected(self, keys: int, n_labels: int) -> dict[str, Expected]:
        """What the arrays of a `state` of so many keys must be."""
        codes = expected(np.int32, None, highest=max(n_labels - 1, 0))
        return {"label_counts": expected(np.int64, keys, highest=n_labels), "labels": codes}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Give the keys of a `state` the slots 0, 1, … Raises CheckpointError if the arrays contradict each other."""
        counts, codes = arrays["label_counts"], arrays["labels"]
        owners = np.repeat(np.arange(counts.size), counts)
        if owners.size != codes.size or np.unique(owners << 31 | codes).size < codes.size:
            raise CheckpointError("the checkpoint's labels of keys do not fit their counts, or a key has one twice")
        self.code_of = np.zeros((counts.size, max(1, counts.max(initial=0))), np.int32)
        self.code_of[np.arange(self.width) < counts[:, None]] = codes
        self.count = counts.copy()


@kernel
def assign_key_labels(
    slots: NDArray[np.int32],
    codes: NDArray[np.int32],
    first: int,
    code_of: NDArray[np.int32],
    count: NDArray[np.int64],
    own: NDArray[np.int32],
    known: NDArray[np.int64],
) -> int:
    """Set own int32[n] and known int64[n] from event `first` on; see `KeyLabels`, whose arrays are changed in place.

    Returns the event for whose label there is no room; the number of events if there is none.
    """
    for i in range(first, slots.size):
        s, code = slots[i], codes[i]
        own[i], known[i] = -1, count[s]
        if code < 0:
            continue
        label = 0
        while label < count[s] and code_of[s, label] != code:
            label += 1
        if label == count[s]:
            if label == code_of.shape[1]:
                return i
            code_of[s, label] = code
            count[s] += 1
        own[i] = label
    return slots.size
