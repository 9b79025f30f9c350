"""Labels that arrive as events of their own, by id."""

import math
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.config import DelayedLabelsConfig
from streamlin.delayed_labels.delays import Delays
from streamlin.delayed_labels.form import Form
from streamlin.delayed_labels.in_memory import Store
from streamlin.delayed_labels.packing import expected_packed, packed, unpacked_texts
from streamlin.delayed_labels.plan import Plan
from streamlin.delayed_labels.waiting import Due, WaitingText
from streamlin.delayed_labels.wanted import Request, Wanted
from streamlin.errors import CheckpointError
from streamlin.events import Batch
from streamlin.storage.arrays import Expected, arrays_under, expected

_MAX_SHOWN = 5
"""Labels that do not fit their text that are shown."""


class _EarlyLabel(NamedTuple):
    """A label that waits for its text."""

    label: str
    weight: float
    time: float


class LabelsById:
    """Joins texts that wait for their labels with labels, which may also wait for their texts.

    All bounds are enforced after every event, so that nothing depends on how the stream is cut into batches. The oldest
    texts and labels are dropped first.

    Parameters
    ----------
    config : bounds and policies.
    form : of the texts and labels.
    store : holds the texts that wait.

    notices : lines for the user.
    wanted : the texts whose label was asked for.
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
    """joined: texts that were learned with a later label. early: texts whose label arrived first. fallen_out: texts
    that were dropped before a label arrived. without_id: texts without label and id. replaced: texts whose id arrived
    again with another text. unknown: labels without a text. repeated, contradicted: second labels, equal to the first
    or not; the first label stands. A form may add one, see `Form.misfits`."""

    def __init__(self, config: DelayedLabelsConfig, form: Form, store: Store) -> None:
        self._config, self._form, self._waiting = config, form, store
        self.wanted = Wanted()
        self._early: OrderedDict[str, _EarlyLabel] = OrderedDict()
        self._known: OrderedDict[str, str] = OrderedDict()
        self._known_size = self._early_size = 0
        self._clock = self._number = 0
        self._now = -math.inf
        self._in_events, self._in_time = Delays(), Delays()
        self.counts = dict.fromkeys((*self.counted, *form.misfits), 0)
        self.notices: list[str] = []
        self._shown = 0

    def plan(self, batch: Batch) -> Plan:
        """Join texts and labels, event by event."""
        plan = Plan(batch, self._form.names)
        label_only, labels = batch.label_only, self._form.labels(batch)
        for event, (id_, label, time) in enumerate(zip(batch.ids, labels, batch.times.tolist(), strict=True)):
            self._clock += 1
            if time > self._now:
                self._now = time
            if label_only is not None and label_only[event]:
                self._add_label(plan, event, str(id_), str(label), float(batch.weights[event]), time)
            else:
                self._add_text(plan, event, id_, label, time)
            self._enforce_bounds(plan, event)
        return plan

    def labels_due(self, batch: Batch) -> set[str]:
        """The labels that may be learned with a batch: its own, and those that wait for its texts."""
        found = {label for label in self._form.labels(batch) if label is not None}
        if self._early:
            found |= {self._early[id_].label for id_ in batch.ids if id_ is not None and id_ in self._early}
        return found

    def texts_due(self, batch: Batch) -> list[WaitingText]:
        """The texts from before a batch that are learned with it."""
        if batch.label_only is None:
            return []
        ids = dict.fromkeys(str(batch.ids[event]) for event in np.flatnonzero(batch.label_only).tolist())
        return [text for id_ in ids if (text := self._waiting.get(id_)) is not None]

    def due(self, event: Batch) -> Due | None:
        """What is learned when the one event of a batch arrives, but for texts that it lets go; nothing changes."""
        id_, label, weight = event.ids[0], self._form.labels(event)[0], float(event.weights[0])
        if event.label_only is not None and event.label_only[0]:
            text = self._waiting.get(str(id_))
            if text is None or self._form.misfit(str(label), self._form.length(text.texts)) is not None:
                return None
            return Due(text, str(label), text.weight * weight)
        early = None if label is not None or id_ is None else self._early.get(id_)
        if early is not None:
            fits = self._form.misfit(early.label, len(event.texts)) is None
            return Due(None, early.label, weight * early.weight) if fits else None
        learned = label is not None or (id_ is None and self._form.learns_unlabelled)
        return Due(None, label, weight) if learned else None

    def ask(self, text: WaitingText, request: Request) -> None:
        """Ask for the label of a text of the batch that was planned last, unless it has arrived in that batch, too."""
        text.asked = request.probability
        if self._waiting.get(str(text.id)) is text:
            self.wanted.add(str(text.id), request)

    def asked(self, after: int) -> Iterator[tuple[Request, WaitingText]]:
        """What is asked for, of texts behind the text of a number, the oldest first."""
        for id_, request in self.wanted.after(after):
            text = self._waiting.get(id_)
            if text is not None:
                yield request, text

    def report(self) -> dict[str, Any]:
        """What waits, what became of the rest, and the delays: in texts, and in seconds by the events' times."""
        seconds = self._in_time.report()
        return {
            "waiting": len(self._waiting),
            "labels_waiting": len(self._early),
            **({"wanted": len(self.wanted)} if self._form.asks else {}),
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
        if self._form.asks:
            arrays |= {f"wanted/{name}": array for name, array in self.wanted.state().items()}
        return arrays, {"clock": self._clock, "number": self._number, "counts": self.counts} | more

    def expected(self, n_labels: int, rest: Mapping[str, Any]) -> dict[str, Expected]:
        """What the arrays of a `state` with this rest must be, where so many labels are known."""
        if "clock" not in rest or not {*self.counts} <= {*rest.get("counts", ())}:
            raise CheckpointError("the checkpoint's state of delayed labels lacks its clock or counts")
        arrays = {f"waiting/{name}": array for name, array in self._waiting.expected(n_labels, rest).items()}
        arrays |= expected_packed("early/ids", "early/labels", "known/ids", "known/labels")
        arrays |= {name: expected(np.float64, None) for name in ("early/weights", "early/times")}
        delays = self._in_events.expected(n_labels)["counts"]
        if self._form.asks:
            arrays |= {f"wanted/{name}": array for name, array in self.wanted.expected(n_labels).items()}
        return arrays | {"delays/events": delays, "delays/time": delays, "now": expected(np.float64)}

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        """Restore what `state` returned. Raises CheckpointError if it does not fit together."""
        self._waiting.restore(arrays_under(arrays, "waiting/"), rest)
        early, known = (
            list(zip(*(unpacked_texts(f"{kind}/{part}", arrays) for part in ("ids", "labels")), strict=False))
            for kind in ("early", "known")
        )
        sizes = [arrays[name].size for name in ("early/ids_lengths", "early/labels_lengths", "early/weights")]
        if {*sizes, arrays["early/times"].size} != {len(early)}:
            raise CheckpointError("the checkpoint's arrays of labels that wait for texts do not fit together")
        for _, label in early:
            self._form.check(label)
        weights, times = arrays["early/weights"].tolist(), arrays["early/times"].tolist()
        self._early = OrderedDict(
            (id_, _EarlyLabel(label, weight, time))
            for (id_, label), weight, time in zip(early, weights, times, strict=True)
        )
        self._known = OrderedDict(known)
        self._known_size = sum(map(_size, self._known.items()))
        self._early_size = sum(_size((id_, one.label)) for id_, one in self._early.items())
        self._in_events.counts, self._in_time.counts = arrays["delays/events"].copy(), arrays["delays/time"].copy()
        self._now = float(arrays["now"])
        if self._form.asks:
            self.wanted.restore(arrays_under(arrays, "wanted/"))
        self._clock, self._number, self.counts = rest["clock"], rest["number"], dict(rest["counts"])

    def settle(self) -> None:
        """The predictions for the batch that was planned last are kept by now; see `Plan.keep`."""
        self._waiting.settle()

    def close(self) -> None:
        """Close the store."""
        self._waiting.close()

    def _add_text(self, plan: Plan, event: int, id_: str | None, label: str | None, time: float) -> None:
        self._number += 1
        if id_ is None:
            plan.arrive(event, label)
            self.counts["without_id"] += label is None
            if label is None:
                plan.await_nothing()
            return
        if (replaced := self._waiting.get(id_)) is not None:
            self.counts["replaced"] += 1
            self._waiting.remove(self._clock, replaced)
            self.wanted.discard(id_)
            self._let_go(plan, event, replaced)
        early = self._early.pop(id_, None)
        if early is not None:
            self._early_size -= _size((id_, early.label))
        if label is not None:  # the text's own label wins over an early one
            self.counts["unknown"] += early is not None
            plan.arrive(event, label)
            self._remember(id_, label)
            return
        plan.arrive(event, None)
        text = plan.waiting(event, self._number, time)
        if early is not None and self._fits(plan, event, text, early.label, "early"):
            self.counts["early"] += 1
            self._remember(id_, early.label)
            plan.learn(event, text, early.label, early.weight)
            return
        self._forget(id_)
        self._waiting.put(self._clock, text)
        if text.weight > 0:
            plan.askable.append(text)

    def _add_label(self, plan: Plan, event: int, id_: str, label: str, weight: float, time: float) -> None:
        text = self._waiting.get(id_)
        if text is not None and not self._fits(plan, event, text, label, "late"):
            return
        if text is not None:
            self._waiting.remove(self._clock, text)
            self.wanted.discard(id_)
            self.counts["joined"] += 1
            self._in_events.add(self._number - text.number)
            if not math.isnan(time - text.time):
                self._in_time.add(int(1000 * (time - text.time)))
            self._remember(id_, label)
            plan.learn(event, text, label, weight)
            return
        before = self._known.get(id_) or (self._early[id_].label if id_ in self._early else None)
        if before is not None:
            self.counts["repeated" if before == label else "contradicted"] += 1
        elif self._config.unknown == "hold":
            self._early[id_] = _EarlyLabel(label, weight, time)
            self._early_size += _size((id_, label))
        else:
            self.counts["unknown"] += 1

    def _fits(self, plan: Plan, event: int, text: WaitingText, label: str, when: str) -> bool:
        """Whether a label, "early" or "late", can be that of a text; if not, it is counted, and the first are shown."""
        why = self._form.misfit(label, self._form.length(text.texts))
        if why is None:
            return True
        self.counts[self._form.misfits[0]] += 1
        self._shown += 1
        if self._shown <= _MAX_SHOWN:
            last = f"; further ones are counted as {self._form.misfits[0]}" if self._shown == _MAX_SHOWN else ""
            self.notices.append(f"left out at {plan.position(event)}: id {text.id!r:.60}, {when} {why}{last}")
        return False

    def _remember(self, id_: str, label: str) -> None:
        self._forget(id_)  # so that it becomes the newest
        self._known[id_] = label
        self._known_size += _size((id_, label))

    def _forget(self, id_: str) -> None:
        if id_ in self._known:
            self._known_size -= _size((id_, self._known.pop(id_)))

    def _let_go(self, plan: Plan, event: int, text: WaitingText) -> None:
        """A text has left the wait for good."""
        if self._form.learns_unlabelled:
            plan.let_go(event, text)

    def _enforce_bounds(self, plan: Plan, event: int) -> None:
        """Drop the oldest texts and labels while there are too many of them, or they are too old."""
        config = self._config
        while len(self._waiting):
            fits = len(self._waiting) <= config.max_pending and self._waiting.size <= config.max_pending_characters
            if fits and (config.max_pending_age is None or not self._is_old(self._waiting.oldest())):
                break
            oldest = self._waiting.pop_oldest(self._clock)
            self.wanted.discard(str(oldest.id))
            self._let_go(plan, event, oldest)
            self.counts["fallen_out"] += 1
        while self._early:
            early = next(iter(self._early.values()))
            fits = len(self._early) <= config.max_remembered and self._early_size <= config.max_pending_characters
            if fits and not self._is_old(early.time):
                break
            id_, early = self._early.popitem(last=False)
            self._early_size -= _size((id_, early.label))
            self.counts["unknown"] += 1
        while len(self._known) > config.max_remembered or self._known_size > config.max_pending_characters:
            self._known_size -= _size(self._known.popitem(last=False))

    def _is_old(self, time: float) -> bool:
        age = self._config.max_pending_age
        return age is not None and self._now - time > age


def _size(pair: tuple[str, str]) -> int:
    """Characters of an id and its label."""
    return len(pair[0]) + len(pair[1])
