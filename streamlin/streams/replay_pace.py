"""Replay pace: events are released when they are due, `rate=` a second or at `speed=` times their own pace."""

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import ConfigError
from streamlin.events import Batch

_SLICE_SECONDS = 0.02
"""Seconds of events that are released together: fast replays come in slices, slow ones event by event."""

_MAX_WAIT = 3600.0


class Rate:
    """Event i of the run, counted from 0, is due after i / rate seconds.

    rate : events a second, > 0.
    """

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._count = 0

    def __call__(self, batch: Batch) -> NDArray[np.float64]:
        """float64[n] ascending, when each event of the next batch is due."""
        numbers = np.arange(self._count, self._count + len(batch))
        self._count += len(batch)
        return numbers / self._rate


class Speed:
    """An event is due after (time - the run's first time) / speed seconds, but never before the previous event.

    An event without a time is due with the previous one.

    speed : seconds of the events' `time` per second, > 0.
    """

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._first_time = math.nan

    def __call__(self, batch: Batch) -> NDArray[np.float64]:
        """float64[n] ascending, when each event of the next batch is due."""
        known = batch.times[~np.isnan(batch.times)]
        if known.size and math.isnan(self._first_time):
            self._first_time = float(known[0])
        with np.errstate(over="ignore"):  # an infinite value is never due
            elapsed = (batch.times - self._first_time) / self._speed
        due: NDArray[np.float64] = np.fmax.accumulate(np.append(0.0, elapsed))[1:]
        return due


class Pace:
    """Holds events back until they are due.

    schedule : when each event of a batch is due, float64[n] seconds after the first `release`; called batch by batch.
    stop : ends every wait when another thread sets it.
    clock : monotonic seconds.
    """

    def __init__(
        self,
        schedule: Callable[[Batch], NDArray[np.float64]],
        stop: threading.Event,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._schedule = schedule
        self._stop, self._clock = stop, clock
        self._start: float | None = None

    def release(self, batch: Batch) -> Iterator[Batch]:
        """The batch in slices, each when it is due, or at once if it is late; a stop drops the rest."""
        if self._start is None:
            self._start = self._clock()
        due = self._start + self._schedule(batch)
        begin = 0
        while begin < len(batch):
            now = self._clock()
            end = int(np.searchsorted(due, now, side="right"))
            if end > begin:
                yield batch[begin:end]
                begin = end
            elif self._stop.wait(_seconds_to_next_slice(due[begin:], now)):
                return


def _seconds_to_next_slice(due: NDArray[np.float64], now: float) -> float:
    """Seconds to wait for the next slice: for its first event, and for those that follow closely."""
    goal = max(due[0], min(due[-1], now + _SLICE_SECONDS))
    return min(float(goal) - now, _MAX_WAIT)


def parse_pace(options: Mapping[str, str], stop: threading.Event) -> Pace | None:
    """The pace of a source's options; None without `rate` and `speed`.

    Raises ConfigError for both at once, and for a value that is not a positive number.
    """
    rate, speed = (_positive(name, options.get(name)) for name in ("rate", "speed"))
    if rate is not None and speed is not None:
        raise ConfigError(f"source: rate={options['rate']} and speed={options['speed']} exclude each other; give one")
    if rate is not None:
        return Pace(Rate(rate), stop)
    return None if speed is None else Pace(Speed(speed), stop)


def _positive(name: str, text: str | None) -> float | None:
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (number > 0 and math.isfinite(number)):
        unit = "events a second" if name == "rate" else "times the events' own pace"
        raise ConfigError(f"source: invalid {name}={text}: expected a positive number ({unit})")
    return number
