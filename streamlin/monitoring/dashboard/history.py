"""Speed and lag over time, in a bounded number of points."""

from typing import NamedTuple

POINTS = 240
_LEAST = 1.0
"""Seconds between the first points."""
LAST = 0.5
"""Of the distance of two points, after which the end of a run is worth one."""


class Point(NamedTuple):
    """second : of the run. events_per_second : since the previous point. lag : events that wait; None: unknown."""

    second: float
    events_per_second: float
    lag: int | None


class History:
    """Points at equal distances. When `room` is full, each two neighbours are merged and the distance doubles."""

    def __init__(self, room: int = POINTS) -> None:
        self.points: list[Point] = []
        self._room, self._distance = room, _LEAST
        self._second, self._events = 0.0, 0

    def is_due(self, second: float, share: float = 1.0) -> bool:
        """Whether it is time for a new point, at a share of the distance to the last one; cheap."""
        return second - self._second >= share * self._distance

    def begin(self, second: float, events: int) -> None:
        """Start at a second of the run, after so many events."""
        self._second, self._events = second, events

    def add(self, second: float, events: int, lag: int | None) -> None:
        """Add a point; `events` counts all events of the run up to then."""
        rate = (events - self._events) / (second - self._second)
        self.points.append(Point(round(second, 2), round(rate, 1), lag))
        self._second, self._events = second, events
        if len(self.points) == self._room:
            self.points = [_merged(*self.points[i : i + 2]) for i in range(0, self._room, 2)]
            self._distance *= 2


def _merged(one: Point, other: Point) -> Point:
    return other._replace(events_per_second=round((one.events_per_second + other.events_per_second) / 2, 1))
