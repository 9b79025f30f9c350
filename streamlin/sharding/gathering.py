"""Gathering rounds: what the lanes give, up to a size or as a plan says."""

import threading
from collections.abc import Callable, Iterator, Sequence

from streamlin.sharding.cuts import Cuts
from streamlin.sharding.lane import Lane
from streamlin.sharding.plan_log import PlanLog
from streamlin.sharding.rounds import Round
from streamlin.streams.reader import Portion


class Gathering:
    """The rounds of a run; None whenever no lane has anything yet. Nothing here reads what learning changes.

    A round takes equally many events of each lane. It is smaller where lanes end, and where sources are live it is
    what they have: it ends when none of its lanes that lack events has any more for now.

    Parameters
    ----------
    size_after : events -> the size of the next round. events, number : those learned, and the rounds, so far.
    live : whether the sources may have nothing for a long time.
    limit : events after which to stop; None: never. stop : when set, an unfinished round is given up.
    """

    def __init__(
        self,
        lanes: Sequence[Lane],
        size_after: Callable[[int], int],
        events: int,
        number: int,
        plans: PlanLog,
        live: bool,
        limit: int | None,
        stop: threading.Event,
    ) -> None:
        self._lanes, self._size_after, self._plans = lanes, size_after, plans
        self._events, self._number, self._live, self._stop = events, number, live, stop
        self._last = None if limit is None else events + limit

    def __iter__(self) -> Iterator[Round | None]:
        while not self._stop.is_set() and (self._last is None or self._events < self._last):
            taken: list[list[Portion]] = [[] for _ in self._lanes]
            plan = self._plans.planned(self._number + 1)
            for idle in self._take(taken, plan):
                if idle:
                    yield None
            one = self._round(taken)
            if self._stop.is_set():  # it may lack what a stopped reader did not give
                return
            if one.events:
                self._number += 1
                if plan is None:
                    self._plans.write(self._number, one.cuts)
            if one.portions:
                self._events += one.events
                yield one
            elif all(lane.is_ended for lane in self._lanes):
                return
            else:
                yield None

    def _take(self, taken: list[list[Portion]], plan: list[Cuts] | None) -> Iterator[bool]:
        """Fill the portions of each lane; gives True whenever there is nothing to take yet."""
        size = self._size_after(self._events)
        if self._last is not None:
            size = min(size, self._last - self._events)
        for number, lane in enumerate(self._lanes):
            quota = size * (number + 1) // len(self._lanes) - size * number // len(self._lanes)
            portions = lane.take(quota, not self._live) if plan is None else lane.take_until(plan[number])
            for portion in portions:
                if portion is not None:
                    taken[number].append(portion)
                if self._stop.is_set():
                    return
                yield portion is None

    def _round(self, taken: list[list[Portion]]) -> Round:
        portions = [portion for own in taken for portion in own]
        shards = [lane.deal(portion) for lane, own in zip(self._lanes, taken, strict=True) for portion in own]
        return Round(portions, shards, [_cuts(own) for own in taken])


def _cuts(portions: Sequence[Portion]) -> Cuts:
    """Up to where the portions reach, in each part."""
    ends = {}
    for portion in portions:
        if portion.count:
            ends[portion.records.key] = int(portion.records.position(portion.count)["offset"])
    return list(ends.items())
