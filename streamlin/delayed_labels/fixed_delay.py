"""Labels that are held back, to replay a stream as if its labels were delayed."""

from collections import deque
from collections.abc import Mapping
from itertools import islice
from typing import Any

from numpy.typing import NDArray

from streamlin.delayed_labels.form import Form
from streamlin.delayed_labels.plan import Plan
from streamlin.delayed_labels.waiting import Due, WaitingText, expected_arrays, from_arrays, to_arrays
from streamlin.errors import CheckpointError
from streamlin.events import Batch
from streamlin.storage.arrays import Expected


class FixedDelay:
    """A replay in which each label arrives only after a fixed number of further texts.

    Parameters
    ----------
    delay : number of texts, >= 1; the labels of the last `delay` texts of a stream never arrive.
    form : of the texts.
    """

    def __init__(self, delay: int, form: Form) -> None:
        self._delay, self._form = delay, form
        self.notices: list[str] = []
        self._waiting: deque[WaitingText] = deque()
        self._number = self._joined = 0

    def plan(self, batch: Batch) -> Plan:
        """Hold every label back, and release those that are due."""
        plan = Plan(batch, self._form.names)
        for event, label in enumerate(self._form.labels(batch)):
            plan.arrive(event, None)
            self._number += 1
            if label is not None or self._form.learns_unlabelled:
                self._waiting.append(plan.waiting(event, self._number, float("nan"), label))
            while self._waiting and self._number - self._waiting[0].number >= self._delay:
                text = self._waiting.popleft()
                if text.label is None:
                    plan.let_go(event, text)
                else:
                    plan.learn(event, text, text.label)
                    self._joined += 1
        return plan

    def labels_due(self, batch: Batch) -> set[str]:
        """The labels that may be learned with a batch, whose texts release as many."""
        given = {label for label in self._form.labels(batch) if label is not None}
        return {text.label for text in islice(self._waiting, len(batch)) if text.label is not None} | given

    def texts_due(self, batch: Batch) -> list[WaitingText]:
        """The texts from before a batch that are learned with it."""
        number = self._number + len(batch)
        return [text for text in islice(self._waiting, len(batch)) if number - text.number >= self._delay]

    def due(self, event: Batch) -> Due | None:
        """What is learned when the one event of a batch arrives; nothing changes."""
        if not self._waiting or self._number + 1 - self._waiting[0].number < self._delay:
            return None
        text = self._waiting[0]
        return Due(text, text.label, text.weight)

    def report(self) -> dict[str, Any]:
        """How many texts wait, and how many have been learned."""
        return {"delay": self._delay, "waiting": len(self._waiting), "joined": self._joined}

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays by name, and the rest as JSON-able values."""
        return to_arrays(list(self._waiting), self._form), {"number": self._number, "joined": self._joined}

    def expected(self, n_labels: int, rest: Mapping[str, Any]) -> dict[str, Expected]:
        """What the arrays of a `state` must be, where so many labels are known."""
        if "joined" not in rest:
            raise CheckpointError("the checkpoint's state of delayed labels lacks its counts")
        return expected_arrays(self._form, n_labels)

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        """Restore what `state` returned."""
        self._waiting = deque(from_arrays(arrays, self._form))
        self._number, self._joined = rest["number"], rest["joined"]

    def settle(self) -> None:
        """Does nothing: the plan has filled in the texts that wait."""

    def close(self) -> None:
        """Does nothing: nothing is open."""
