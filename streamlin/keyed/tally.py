"""Accuracy for each key, and what its races have shown."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import CheckpointError
from streamlin.evaluation.json_values import json_values
from streamlin.kernel import kernel
from streamlin.keyed.race import answer
from streamlin.storage.arrays import Expected, expected

ENOUGH = 10
"""Labelled events that a key needs to be among the quantiles, the worst and the best."""
_LISTED = 10
"""Keys that are listed as the worst, and as the best; none is both."""
_QUANTILES = {"lowest": 0.0, "p10": 0.1, "median": 0.5, "p90": 0.9, "highest": 1.0}


class KeyTally:
    """Sums over labelled events, by the slot of their key; and those of keys that were dropped.

    events, weights : [slots], the number of labelled events and their weight. hits : [N, slots], the weight of those
    that each learner, as it answered, predicted right.
    own_hits, shared_hits, leads, squares : [L, slots], of the L learners that learn themselves: hits of the key's own
    model and of the shared one, and S and Q of their race.
    gone_events [], gone_weights [], gone_hits [N], gone_own_hits, gone_shared_hits [L] : of keys that were dropped.
    """

    _sums = ("hits", "own_hits", "shared_hits", "weights", "events")
    _race = ("leads", "squares")

    def __init__(self, answering: int, learning: int) -> None:
        self._lengths = {"hits": answering} | dict.fromkeys(("own_hits", "shared_hits", *self._race), learning)
        for name in (*self._sums, *self._race):
            kind = np.int64 if name == "events" else np.float64
            setattr(self, name, np.zeros((*self._axes(name), 0), kind))
            if name in self._sums:
                setattr(self, f"gone_{name}", np.zeros(self._axes(name), kind))

    hits: NDArray[np.float64]
    own_hits: NDArray[np.float64]
    shared_hits: NDArray[np.float64]
    leads: NDArray[np.float64]
    squares: NDArray[np.float64]
    weights: NDArray[np.float64]
    events: NDArray[np.int64]

    def grow(self, slots: int) -> None:
        """Make room for so many keys."""
        if slots > self.events.size:
            slots = max(slots, self.events.size * 5 // 4)
            for name in (*self._sums, *self._race):
                old = getattr(self, name)
                larger = np.zeros((*old.shape[:-1], slots), old.dtype)
                larger[..., : old.shape[-1]] = old
                setattr(self, name, larger)

    def answer(
        self,
        learner: int,
        own: NDArray[np.float64],
        known: NDArray[np.int64],
        events: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]],
        code_of: NDArray[np.int32],
        shared: bool,
        scores: NDArray[np.float64],
    ) -> None:
        """Race, and answer; see `streamlin.keyed.race.answer`. learner : its number among those that learn.

        events : their order, slots, codes and weights.
        """
        answer(
            own,
            known,
            *events,
            code_of,
            shared,
            self.leads[learner],
            self.squares[learner],
            self.own_hits[learner],
            self.shared_hits[learner],
            scores,
        )

    def count(
        self,
        events: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]],
        predicted: NDArray[np.int32],
    ) -> None:
        """Count predicted int32[N, all events] against the codes. events : see `answer`."""
        count_by_slot(*events, predicted, self.hits, self.weights, self.events)

    def are_ahead(self, learner: int, slots: NDArray[np.int32]) -> NDArray[np.bool_]:
        """bool[n]: for which of n keys their own model is ahead of the shared one."""
        ahead: NDArray[np.bool_] = self.leads[learner, slots] > np.sqrt(self.squares[learner, slots])
        return ahead

    def free(self, slots: NDArray[np.int32]) -> None:
        """Add the sums of some keys to those of keys that were dropped."""
        for name in self._sums:
            own = getattr(self, name)
            for slot in slots.tolist():  # in this order, whatever the batch, so that rounding is the same
                setattr(self, f"gone_{name}", getattr(self, f"gone_{name}") + own[..., slot])
        for name in (*self._sums, *self._race):
            getattr(self, name)[..., slots] = 0

    def state(self, slots: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
        """Of these keys, and of those that were dropped."""
        kept = {name: getattr(self, name)[..., slots] for name in (*self._sums, *self._race)}
        return kept | {f"gone_{name}": np.asarray(getattr(self, f"gone_{name}")) for name in self._sums}

    def expected(self, keys: int) -> dict[str, Expected]:
        """What the arrays of a `state` of so many keys must be."""
        names = {name: (*self._axes(name), keys) for name in (*self._sums, *self._race)}
        names |= {f"gone_{name}": self._axes(name) for name in self._sums}
        return {name: expected(getattr(self, name).dtype, *shape) for name, shape in names.items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Give the keys of a `state` the slots 0, 1, … Raises CheckpointError if a sum is not finite."""
        for name, array in arrays.items():
            if not np.isfinite(array).all():
                raise CheckpointError(f"the checkpoint's array keys/{name} has sums that are not finite")
            setattr(self, name, array.copy())

    def to_json(
        self,
        slots: NDArray[np.int32],
        keys: Sequence[str],
        answering: Sequence[str],
        learning: Sequence[str],
        shared: bool,
        details: bool,
    ) -> dict[str, Any]:
        """Of all keys, JSON-able: by learner accuracies, and their quantiles over keys; with `details` keys by name."""
        events, weights = self.events[slots], self.weights[slots]
        shares = np.divide(self.hits[:, slots], weights, where=weights > 0, out=np.zeros((len(answering), slots.size)))
        enough = np.flatnonzero((events >= ENOUGH) & (weights > 0))
        rows: dict[str, Any] = {}
        for number, name in enumerate(answering):
            rows[name] = {"accuracy": self._share("hits", number, slots)}
            if name in learning:
                own = learning.index(name)
                rows[name]["own"] = self._share("own_hits", own, slots)
                if shared:
                    rows[name]["shared"] = self._share("shared_hits", own, slots)
                    rows[name]["keys_ahead"] = int(self.are_ahead(own, slots).sum())
            found = shares[number, enough]
            rows[name] |= {at: float(np.quantile(found, q)) if found.size else None for at, q in _QUANTILES.items()}
        told = {"labelled": int(events.sum() + self._gone("events")), "measured": enough.size, "learners": rows}
        if not details:
            return told
        best = shares[:, enough].max(axis=0, initial=0.0)
        order = enough[np.lexsort((-events[enough], best))]
        half = min(_LISTED, (order.size + 1) // 2)
        listed = {"worst": order[:half], "best": order[half:][::-1][:_LISTED]}
        return told | {
            which: [
                {"key": keys[i], "events": int(events[i])}
                | {
                    "learners": {
                        name: {"accuracy": share}
                        for name, share in zip(answering, json_values(shares[:, i]), strict=True)
                    }
                }
                for i in chosen.tolist()
            ]
            for which, chosen in listed.items()
        }

    def _share(self, name: str, number: int, slots: NDArray[np.int32]) -> float | None:
        weight = float(self.weights[slots].sum() + self._gone("weights"))
        hits = float(getattr(self, name)[number, slots].sum() + self._gone(name)[number])
        return hits / weight if weight > 0 else None

    def _gone(self, name: str) -> Any:
        return getattr(self, f"gone_{name}")

    def _axes(self, name: str) -> tuple[int, ...]:
        return (self._lengths[name],) if name in self._lengths else ()


@kernel
def count_by_slot(
    order: NDArray[np.int64],
    slots: NDArray[np.int32],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    predicted: NDArray[np.int32],
    hits: NDArray[np.float64],
    slot_weights: NDArray[np.float64],
    events: NDArray[np.int64],
) -> None:
    """Add events to hits float64[N, slots], slot_weights float64[slots] and events int64[slots]; see `answer`."""
    for i in range(slots.size):
        s = slots[i]
        if codes[i] < 0:
            continue
        events[s] += 1
        slot_weights[s] += weights[i]
        for m in range(predicted.shape[0]):
            hits[m, s] += weights[i] * (predicted[m, order[i]] == codes[i])
