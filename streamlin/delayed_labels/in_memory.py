"""Texts that wait in memory."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Protocol

from numpy.typing import NDArray

from streamlin.delayed_labels.form import Form
from streamlin.delayed_labels.waiting import WaitingText, expected_arrays, from_arrays, to_arrays
from streamlin.errors import CheckpointError
from streamlin.storage.arrays import Expected


class Store(Protocol):
    """Texts that wait, by id, in order of arrival. `clock` is the number of the event in the stream; it only grows."""

    def __len__(self) -> int: ...

    @property
    def size(self) -> int:
        """Total size of the texts in characters."""

    def put(self, clock: int, text: WaitingText) -> None:
        """Add a text, whose id no other text has."""

    def get(self, id_: str) -> WaitingText | None:
        """The text of an id; None if no text has it."""

    def remove(self, clock: int, text: WaitingText) -> None:
        """Remove a text that `get` has returned."""

    def oldest(self) -> float:
        """The time of the oldest text, NaN if it has none; the store must not be empty."""

    def pop_oldest(self, clock: int) -> WaitingText:
        """Remove the oldest text and return it."""

    def settle(self) -> None:
        """The predictions for the texts of this batch are kept by now."""

    def state(self, clock: int) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays by name, and the rest as JSON-able values, for a checkpoint."""

    def expected(self, n_labels: int, rest: Mapping[str, Any]) -> dict[str, Expected]:
        """What the arrays of a `state` with this rest must be, where so many labels are known.

        Raises CheckpointError if it is of the other kind of store.
        """

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        """Restore what `state` returned. Raises CheckpointError if it does not fit together."""

    def close(self) -> None: ...


class InMemory:
    """A store in memory; see `Store`.

    form : of the texts.
    """

    def __init__(self, form: Form) -> None:
        self._form = form
        self._texts: OrderedDict[str, WaitingText] = OrderedDict()  # unlike in a dict, the oldest is found at once
        self._size = 0

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def size(self) -> int:
        return self._size

    def put(self, clock: int, text: WaitingText) -> None:
        self._texts[str(text.id)] = text
        self._size += text.size

    def get(self, id_: str) -> WaitingText | None:
        return self._texts.get(id_)

    def remove(self, clock: int, text: WaitingText) -> None:
        del self._texts[str(text.id)]
        self._size -= text.size

    def oldest(self) -> float:
        return next(iter(self._texts.values())).time

    def pop_oldest(self, clock: int) -> WaitingText:
        _, text = self._texts.popitem(last=False)
        self._size -= text.size
        return text

    def settle(self) -> None:
        """Does nothing: the store holds the texts themselves."""

    def state(self, clock: int) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        return to_arrays(list(self._texts.values()), self._form), {}

    def expected(self, n_labels: int, rest: Mapping[str, Any]) -> dict[str, Expected]:
        _check_kind(rest)
        return expected_arrays(self._form, n_labels)

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        _check_kind(rest)
        texts = from_arrays(arrays, self._form)
        self._texts = OrderedDict((str(text.id), text) for text in texts)
        self._size = sum(text.size for text in texts)

    def close(self) -> None:
        """Does nothing: nothing is open."""


def _check_kind(rest: Mapping[str, Any]) -> None:
    if "on_disk" in rest:
        raise CheckpointError("the checkpoint keeps waiting texts on disk: resume with delayed_labels.store=disk")
