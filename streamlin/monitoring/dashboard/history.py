"""The course of speed and lag, in a bounded number of points."""

from typing import NamedTuple

POINTS = 240
_FIRST_DISTANCE = 1.0
"""Seconds between two points, at first."""


class Point(NamedTuple):
    """second : of the run. events_per_second : since the previous point. lag : waiting events; None: not known."""

    second: float
    events_per_second: float
    lag: int | None


class History:
    """Points at a distance that doubles whenever there is no room for another; two neighbours become their mean."""

    def __init__(self, room: int = POINTS) -> None:
        self.points: list[Point] = []
        self._room, self._distance = room, _FIRST_DISTANCE
        self._second, self._events = 0.0, 0

    def needs_point(self, second: float) -> bool:
        """Whether the next point is due; cheap."""
        return second - self._second >= self._distance

    def begin(self, second: float, events: int) -> None:
        """Start at a second, with the events so far."""
        self._second, self._events = second, events

    def add(self, second: float, events: int, lag: int | None) -> None:
        """Add the point of a second; `events` is the total so far."""
        rate = (events - self._events) / (second - self._second)
        self.points.append(Point(round(second, 2), round(rate, 1), lag))
        self._second, self._events = second, events
        if len(self.points) == self._room:
            self.points = [_merged(*self.points[i : i + 2]) for i in range(0, self._room, 2)]
            self._distance *= 2


def _merged(one: Point, other: Point) -> Point:
    return other._replace(events_per_second=round((one.events_per_second + other.events_per_second) / 2, 1))
