"""Texts that wait in memory."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from streamlin.delayed_labels.waiting import Waiting, from_arrays, to_arrays
from streamlin.errors import CheckpointError


class Store(Protocol):
    """Texts that wait, by id, in the order in which they came. `clock` is where the stream is; it only grows."""

    def __len__(self) -> int: ...

    @property
    def size(self) -> int:
        """Characters."""

    def put(self, clock: int, text: Waiting) -> None:
        """A text waits from now on; there is none of its id."""

    def pop(self, clock: int, id_: str) -> Waiting | None:
        """Take a text out, None where there is none of that id."""

    def oldest(self) -> float:
        """The time of the text that came first, NaN where it has none; for a store that has any."""

    def drop_oldest(self, clock: int) -> None:
        """Take that text out."""

    def settle(self) -> None:
        """What was predicted of the texts of this batch is known."""

    def state(self, clock: int) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """For a checkpoint: arrays by name, and the rest as JSON-able values."""

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        """Take what `state` gave. Raises CheckpointError where another store gave it."""

    def close(self) -> None: ...


class InMemory:
    """See `Store`.

    names : of the further fields that events have.
    learners : their number.
    """

    def __init__(self, names: Sequence[str], learners: int) -> None:
        self._names, self._learners = names, learners
        self._texts: OrderedDict[str, Waiting] = OrderedDict()  # of which the oldest is found at once
        self._size = 0

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def size(self) -> int:
        return self._size

    def put(self, clock: int, text: Waiting) -> None:
        self._texts[str(text.id)] = text
        self._size += text.size

    def pop(self, clock: int, id_: str) -> Waiting | None:
        text = self._texts.pop(id_, None)
        if text is not None:
            self._size -= text.size
        return text

    def oldest(self) -> float:
        return next(iter(self._texts.values())).time

    def drop_oldest(self, clock: int) -> None:
        _, text = self._texts.popitem(last=False)
        self._size -= text.size

    def settle(self) -> None:
        """They are the texts themselves."""

    def state(self, clock: int) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        return to_arrays(list(self._texts.values()), self._names), {}

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        if "on_disk" in rest:
            raise CheckpointError("the texts that wait are on disk; go on with delayed_labels.store=disk")
        texts = from_arrays(arrays, self._names, self._learners)
        self._texts = OrderedDict((str(text.id), text) for text in texts)
        self._size = sum(text.size for text in texts)

    def close(self) -> None:
        """Nothing is open."""
