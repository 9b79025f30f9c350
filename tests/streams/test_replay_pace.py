"""Replay pace: when events are released."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from streamlin.errors import ConfigError
from streamlin.events import Batch, single_records
from streamlin.streams.replay_pace import Pace, Rate, Speed, parse_pace

NAN = float("nan")


class Clock(threading.Event):
    """A clock that only waiting moves; an event to wait on, set once `stop_at` is reached."""

    def __init__(self, stop_at: float = float("inf")) -> None:
        super().__init__()
        self.now, self.stop_at, self.waits = 1000.0, 1000.0 + stop_at, 0

    def __call__(self) -> float:
        return self.now

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        assert timeout > 0
        self.waits += 1
        self.now = min(self.now + timeout, self.stop_at)
        return self.now >= self.stop_at


def batch(times: list[float], first: int = 0) -> Batch:
    n = len(times)
    texts = [str(first + i) for i in range(n)]
    records = single_records([text.encode() for text in texts])
    return Batch(list(texts), texts, [None] * n, np.ones(n), np.array(times), {}, records, np.arange(n))


def released(pace: Pace, clock: Clock, *batches: Batch) -> list[tuple[float, list[str]]]:
    """The time of each slice, in seconds after the start, and the texts in it."""
    return [(clock() - 1000.0, part.texts) for whole in batches for part in pace.release(whole)]


def test_a_slow_rate_releases_events_one_by_one() -> None:
    clock = Clock()
    seen = released(Pace(Rate(10), clock, clock), clock, batch([NAN] * 3), batch([NAN] * 2, first=3))
    assert [texts for _, texts in seen] == [["0"], ["1"], ["2"], ["3"], ["4"]]
    assert_allclose([moment for moment, _ in seen], [0, 0.1, 0.2, 0.3, 0.4])


def test_a_fast_rate_releases_slices_of_20_milliseconds() -> None:
    clock = Clock()
    seen = released(Pace(Rate(100_000), clock, clock), clock, batch([NAN] * 10_000))
    assert [text for _, texts in seen for text in texts] == [str(i) for i in range(10_000)]
    assert len(seen) <= 7
    assert_allclose(seen[1][0], 0.02)
    assert all(int(texts[-1]) / 100_000 <= moment + 1e-9 for moment, texts in seen)


def test_the_wait_ends_with_the_batch() -> None:
    """Three events in 2 ms: the last of them is due long before the 20 ms are over."""
    clock = Clock()
    seen = released(Pace(Rate(1000), clock, clock), clock, batch([NAN] * 3))
    assert [texts for _, texts in seen] == [["0"], ["1", "2"]]
    assert_allclose([moment for moment, _ in seen], [0, 0.002])


def test_late_events_are_released_at_once() -> None:
    clock = Clock()
    pace = Pace(Rate(10), clock, clock)
    released(pace, clock, batch([NAN]))
    clock.now += 60
    assert released(pace, clock, batch([NAN] * 4, first=1)) == [(60.0, ["1", "2", "3", "4"])]
    assert clock.waits == 0


def test_speed_follows_the_times_of_the_events() -> None:
    """At twice their pace 100, 104 and 110 s come after 0, 2 and 5 s; the next batch goes on from there."""
    clock = Clock()
    seen = released(Pace(Speed(2), clock, clock), clock, batch([100, 104, 110]), batch([112], first=3))
    assert [texts for _, texts in seen] == [["0"], ["1"], ["2"], ["3"]]
    assert_allclose([moment for moment, _ in seen], [0, 2, 5, 6])


def test_missing_and_decreasing_times_are_due_with_the_previous_event() -> None:
    clock = Clock()
    times = [NAN, 50, 53, NAN, 51, 54]
    seen = released(Pace(Speed(1), clock, clock), clock, batch(times), batch([NAN, 49, 55], first=6))
    assert [texts for _, texts in seen] == [["0", "1"], ["2", "3", "4"], ["5"], ["6", "7"], ["8"]]
    assert_allclose([moment for moment, _ in seen], [0, 3, 4, 4, 5])


def test_events_without_times_are_due_at_once() -> None:
    clock = Clock()
    seen = released(Pace(Speed(0.001), clock, clock), clock, batch([NAN] * 5))
    assert seen == [(0.0, ["0", "1", "2", "3", "4"])]


def test_an_empty_batch_changes_nothing() -> None:
    for schedule in (Rate(1), Speed(1)):
        clock = Clock()
        pace = Pace(schedule, clock, clock)
        assert released(pace, clock, batch([])) == []
        seen = released(pace, clock, batch([5, 6]))
        assert_allclose([moment for moment, _ in seen], [0, 1])


def test_a_stop_drops_events_that_are_not_due() -> None:
    clock = Clock(stop_at=2.5)
    seen = released(Pace(Rate(1), clock, clock), clock, batch([NAN] * 10))
    assert [texts for _, texts in seen] == [["0"], ["1"], ["2"]]
    assert clock() == 1002.5


@pytest.mark.parametrize("times", [[0.0, 1e9], [0.0, 1.7e308]])
def test_a_wait_of_decades_can_be_stopped(times: list[float]) -> None:
    clock = Clock(stop_at=10_000)
    seen = released(Pace(Speed(1e-3), clock, clock), clock, batch(times))
    assert seen == [(0.0, ["0"])]
    assert clock.waits == 3


@given(
    st.lists(st.lists(st.one_of(st.just(NAN), st.floats(0, 100)), max_size=8), max_size=5),
    st.floats(0.1, 1000),
    st.booleans(),
)
def test_every_event_comes_once_in_order_never_early(times: list[list[float]], pace: float, by_rate: bool) -> None:
    clock, first, batches = Clock(), 0, []
    for part in times:
        batches.append(batch(part, first))
        first += len(part)
    seen = released(Pace(Rate(pace) if by_rate else Speed(pace), clock, clock), clock, *batches)
    moments = [moment for moment, texts in seen for _ in texts]
    assert [text for _, texts in seen for text in texts] == [str(i) for i in range(first)]
    flat = [moment for part in times for moment in part]
    start = next((moment for moment in flat if moment == moment), 0.0)
    for i, moment in enumerate(moments):
        due = i / pace if by_rate else (flat[i] - start) / pace
        assert not moment < due - 1e-6


def test_the_rate_holds_by_a_real_clock() -> None:
    """21 events at 100 a second take 0.2 s at the least."""
    pace = parse_pace({"rate": "100"}, threading.Event())
    assert pace is not None
    begin = time.monotonic()
    assert [text for part in pace.release(batch([NAN] * 21)) for text in part.texts] == [str(i) for i in range(21)]
    assert time.monotonic() - begin >= 0.2


def test_a_stop_ends_a_long_wait() -> None:
    stop = threading.Event()
    pace = parse_pace({"speed": "1e-6"}, stop)
    assert pace is not None
    slices: list[Batch] = []
    waiting = threading.Thread(target=lambda: slices.extend(pace.release(batch([0, 1]))), daemon=True)
    waiting.start()
    stop.set()
    waiting.join(60)
    assert not waiting.is_alive()
    assert [part.texts for part in slices] == [["0"]]


def test_there_is_no_pace_by_default() -> None:
    assert parse_pace({"format": "json"}, threading.Event()) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": "0"}, r"source: invalid rate=0: expected a positive number \(events a second\)"),
        ({"rate": "fast"}, "invalid rate=fast: expected a positive number"),
        ({"rate": "inf"}, "invalid rate=inf: expected"),
        ({"rate": ""}, "invalid rate=: expected"),
        ({"speed": "-2"}, r"invalid speed=-2: expected a positive number \(times the events' own pace\)"),
        ({"speed": "nan"}, "invalid speed=nan: expected"),
        ({"rate": "5", "speed": "2"}, "rate=5 and speed=2 exclude each other"),
    ],
)
def test_an_invalid_pace_is_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_pace(options, threading.Event())
