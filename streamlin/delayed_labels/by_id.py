"""Labels that come as events of their own, by id."""

import math
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.config import DelayedLabelsConfig
from streamlin.delayed_labels.delays import Delays
from streamlin.delayed_labels.in_memory import Store
from streamlin.delayed_labels.packing import packed, unpacked
from streamlin.delayed_labels.plan import Plan
from streamlin.events import Batch, arrays_under


class _Early(NamedTuple):
    """A label that waits for its text."""

    label: str
    weight: float
    time: float


class LabelsById:
    """Texts that wait for their labels, labels that wait for their texts, and what became of either.

    All bounds hold event by event, so that nothing depends on how the stream is cut into batches. The oldest falls out
    first.

    Parameters
    ----------
    config : bounds and policies.
    names : of the further fields that events have.
    store : of the texts that wait.
    """

    counted = (
        "joined",
        "early",
        "fallen_out",
        "without_id",
        "replaced",
        "unknown",
        "repeated",
        "contradicted",
    )
    """joined: texts that learned a later label. early: texts whose label was there before them. fallen_out: texts that
    no longer wait. without_id: texts that no label can name. replaced: texts of which another one of that id came.
    unknown: labels of no text. repeated, contradicted: second labels, the same or another one; the first one stands."""

    def __init__(self, config: DelayedLabelsConfig, names: Sequence[str], store: Store) -> None:
        self._config, self._names, self._waiting = config, tuple(names), store
        self._early: OrderedDict[str, _Early] = OrderedDict()
        self._known: OrderedDict[str, str] = OrderedDict()
        self._clock = self._number = 0
        self._now = -math.inf
        self._in_events, self._in_time = Delays(), Delays()
        self.counts = dict.fromkeys(self.counted, 0)

    def plan(self, batch: Batch) -> Plan:
        """Join, event by event."""
        plan = Plan(batch, self._names)
        label_only = batch.label_only
        for event, (id_, label, time) in enumerate(zip(batch.ids, batch.labels, batch.times.tolist(), strict=True)):
            self._clock += 1
            if time > self._now:
                self._now = time
            if label_only is not None and label_only[event]:
                self._label_came(plan, event, str(id_), str(label), float(batch.weights[event]), time)
            else:
                self._text_came(plan, event, id_, label, time)
            self._bound()
        return plan

    def report(self) -> dict[str, Any]:
        """Who waits, what became of the others, and how long it took: in texts, and in seconds of their own times."""
        seconds = self._in_time.report()
        return {
            "waiting": len(self._waiting),
            "labels_waiting": len(self._early),
            **self.counts,
            "delay_events": self._in_events.report(),
            "delay_seconds": None if seconds is None else {name: value / 1000 for name, value in seconds.items()},
        }

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays by name, and the rest as JSON-able values."""
        waiting, more = self._waiting.state(self._clock)
        arrays = {f"waiting/{name}": array for name, array in waiting.items()}
        early = self._early.values()
        arrays |= packed("early/ids", list(self._early)) | packed("early/labels", [one.label for one in early])
        arrays["early/weights"] = np.array([one.weight for one in early])
        arrays["early/times"] = np.array([one.time for one in early])
        arrays |= packed("known/ids", list(self._known)) | packed("known/labels", list(self._known.values()))
        arrays |= {"delays/events": self._in_events.counts, "delays/time": self._in_time.counts}
        arrays["now"] = np.array(self._now)
        return arrays, {"clock": self._clock, "number": self._number, "counts": self.counts} | more

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        """Take what `state` gave."""
        self._waiting.restore(arrays_under(arrays, "waiting/"), rest)
        columns = unpacked("early/labels", arrays), arrays["early/weights"].tolist(), arrays["early/times"].tolist()
        early: Iterator[_Early] = map(_Early, *columns)  # type: ignore[arg-type]  # there is no None
        self._early = OrderedDict(zip(map(str, unpacked("early/ids", arrays)), early, strict=True))
        known = unpacked("known/ids", arrays), unpacked("known/labels", arrays)
        self._known = OrderedDict((str(id_), str(label)) for id_, label in zip(*known, strict=True))
        self._in_events.counts, self._in_time.counts = arrays["delays/events"].copy(), arrays["delays/time"].copy()
        self._now = float(arrays["now"])
        self._clock, self._number, self.counts = rest["clock"], rest["number"], dict(rest["counts"])

    def settle(self) -> None:
        """What was predicted of the batch that was planned last is known."""
        self._waiting.settle()

    def close(self) -> None:
        """Let go of the store."""
        self._waiting.close()

    def _text_came(self, plan: Plan, event: int, id_: str | None, label: str | None, time: float) -> None:
        self._number += 1
        if id_ is None:
            plan.arrive(event, label)
            self.counts["without_id"] += label is None
            return
        self.counts["replaced"] += self._waiting.pop(self._clock, id_) is not None
        early = self._early.pop(id_, None)
        if label is not None:  # it knows best
            self.counts["unknown"] += early is not None
            plan.arrive(event, label)
            self._known_now(id_, label)
            return
        plan.arrive(event, None)
        text = plan.waiting(event, self._number, time)
        if early is not None:
            self.counts["early"] += 1
            self._known_now(id_, early.label)
            plan.learn(event, text, early.label, early.weight)
            return
        self._known.pop(id_, None)
        self._waiting.put(self._clock, text)

    def _label_came(self, plan: Plan, event: int, id_: str, label: str, weight: float, time: float) -> None:
        text = self._waiting.pop(self._clock, id_)
        if text is not None:
            self.counts["joined"] += 1
            self._in_events.add(self._number - text.number)
            if not math.isnan(time - text.time):
                self._in_time.add(int(1000 * (time - text.time)))
            self._known_now(id_, label)
            plan.learn(event, text, label, weight)
            return
        before = self._known.get(id_) or (self._early[id_].label if id_ in self._early else None)
        if before is not None:
            self.counts["repeated" if before == label else "contradicted"] += 1
        elif self._config.unknown == "hold":
            self._early[id_] = _Early(label, weight, time)
        else:
            self.counts["unknown"] += 1

    def _known_now(self, id_: str, label: str) -> None:
        self._known.pop(id_, None)  # to stand last
        self._known[id_] = label

    def _bound(self) -> None:
        """Let fall out what is too much, or too old."""
        config = self._config
        while len(self._waiting):
            fits = len(self._waiting) <= config.max_pending and self._waiting.size <= config.max_pending_characters
            if fits and (config.max_pending_age is None or not self._is_old(self._waiting.oldest())):
                break
            self._waiting.drop_oldest(self._clock)
            self.counts["fallen_out"] += 1
        while self._early:
            early = next(iter(self._early.values()))
            if len(self._early) <= config.max_remembered and not self._is_old(early.time):
                break
            self._early.popitem(last=False)
            self.counts["unknown"] += 1
        if len(self._known) > config.max_remembered:
            self._known.popitem(last=False)

    def _is_old(self, time: float) -> bool:
        age = self._config.max_pending_age
        return age is not None and self._now - time > age
