"""Labels that are held back, to see how a stream with late labels would be learned."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from streamlin.delayed_labels.plan import Plan
from streamlin.delayed_labels.waiting import Waiting, from_arrays, to_arrays
from streamlin.events import Batch


class FixedDelay:
    """A replay in which each label comes only after so many more texts were predicted.

    Parameters
    ----------
    delay : texts, >= 1; the labels of a stream's last ones never come.
    names : of the further fields that events have.
    learners : their number.
    """

    def __init__(self, delay: int, names: Sequence[str], learners: int) -> None:
        self._delay, self._names, self._learners = delay, tuple(names), learners
        self._waiting: deque[Waiting] = deque()
        self._number = self._joined = 0

    def plan(self, batch: Batch) -> Plan:
        """Hold every label back, and give out those that are due."""
        plan = Plan(batch, self._names)
        for event, label in enumerate(batch.labels):
            plan.arrive(event, None)
            self._number += 1
            if label is not None:
                self._waiting.append(plan.waiting(event, self._number, float("nan"), label))
            while self._waiting and self._number - self._waiting[0].number >= self._delay:
                text = self._waiting.popleft()
                plan.learn(event, text, str(text.label))
                self._joined += 1
        return plan

    def report(self) -> dict[str, Any]:
        """Who waits, and who has learned a label."""
        return {"delay": self._delay, "waiting": len(self._waiting), "joined": self._joined}

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays by name, and the rest as JSON-able values."""
        return to_arrays(list(self._waiting), self._names), {"number": self._number, "joined": self._joined}

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        """Take what `state` gave."""
        self._waiting = deque(from_arrays(arrays, self._names, self._learners))
        self._number, self._joined = rest["number"], rest["joined"]

    def settle(self) -> None:
        """The texts that wait are those that were planned with."""

    def close(self) -> None:
        """Nothing is open."""
