"""Which keys have a model, and in which slot of the tables."""

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import CheckpointError


class Slots:
    """The slots of up to `limit` keys.

    A key gets a slot with the first event that is learned with it. If all are taken, the key that was least recently
    used, by an event with or without a label, is dropped. The slot of a dropped key is used again after the batch,
    so which slot a key has depends on batches, but nothing else does.

    dropped : how many keys were dropped. leaving : the slots of those dropped in this batch.
    size : the number of slots that were ever used at the same time.
    """

    def __init__(self, limit: int) -> None:
        self.limit, self.dropped, self.size = limit, 0, 0
        self.leaving: list[int] = []
        self._slots: dict[str | None, int] = {}
        self._names: list[str] = []
        self._used = np.zeros(0, np.int64)
        """By slot, when its key was last used, in events."""
        self._clock = 0
        self._oldest: deque[tuple[int, int]] = deque()
        """Slots and when they were used, the least recently used first; those used since are further down."""
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def numbers(self) -> NDArray[np.int32]:
        """int32[keys], the slots of all keys, the least recently used first."""
        slots = np.fromiter(self._slots.values(), np.int32, len(self._slots))
        return slots[np.argsort(self._used[slots])]

    @property
    def names(self) -> list[str]:
        """The keys, in the same order."""
        return [self._names[slot] for slot in self.numbers.tolist()]

    def look_up(self, keys: Sequence[str | None]) -> NDArray[np.int32]:
        """int32[n]: the slots of keys; -1 for None and for a key without one."""
        get = self._slots.get
        return np.array([get(key, -1) for key in keys], np.int32)

    def use(self, keys: Sequence[str | None], learned: NDArray[np.bool_]) -> NDArray[np.int32]:
        """`look_up` for the keys of consecutive events, which count as a use; learned, bool[n], events bring slots."""
        found, brings = self.look_up(keys), learned.tolist()
        missing = np.flatnonzero(found < 0)
        if len(self._slots) + missing.size <= self.limit:  # none is dropped, so of each key only the last use matters
            for event in missing.tolist():
                found[event] = self._use(keys[event], brings[event])
            used = found >= 0
            self._used[found[used]] = self._clock + np.flatnonzero(used)
            self._clock += len(keys)
        else:
            for event, key in enumerate(keys):
                found[event] = slot = self._use(key, brings[event])
                if slot >= 0:
                    self._used[slot] = self._clock
                self._clock += 1
        return found

    def oldest(self) -> int:
        """The slot of the key that a further key would replace; -1 if there is room."""
        if len(self._slots) < self.limit:
            return -1
        while not self._oldest or self._used[self._oldest[0][0]] != self._oldest[0][1]:
            if self._oldest:
                self._oldest.popleft()
            else:
                slots = self.numbers
                self._oldest.extend(zip(slots.tolist(), self._used[slots].tolist(), strict=True))
        return self._oldest[0][0]

    def release(self) -> None:
        """Make the slots of keys that were dropped in this batch available."""
        self._free += self.leaving
        self.leaving = []

    def restore(self, names: Sequence[str], dropped: int) -> None:
        """Give keys, the least recently used first, the slots 0, 1, … Raises CheckpointError if they can't be those."""
        if len(names) > self.limit or len({*names}) < len(names):
            raise CheckpointError(f"the checkpoint's keys are not up to {self.limit} different ones")
        self._names, self._slots = list(names), {name: slot for slot, name in enumerate(names)}
        self.size = self._clock = len(names)
        self._used, self.dropped = np.arange(self.size), dropped

    def _use(self, key: str | None, brings: bool) -> int:
        """The slot of a key, which may be new; -1 if it has none."""
        slot = self._slots.get(key, -1)
        if slot >= 0 or key is None or not brings:
            return slot
        if (dropped := self.oldest()) >= 0:
            self._oldest.popleft()
            del self._slots[self._names[dropped]]
            self.leaving.append(dropped)
            self.dropped += 1
        slot = self._slots[key] = self._free.pop() if self._free else self._further()
        self._names[slot] = key
        return slot

    def _further(self) -> int:
        """A slot that was never used."""
        self.size += 1
        self._names.append("")
        if self._used.size < self.size:
            self._used = np.append(self._used, np.zeros(max(16, self.size // 4), np.int64))
        return self.size - 1
