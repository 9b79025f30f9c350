"""The unit of times that are numbers: the option `time_unit=`, and a notice where it seems to be another one."""

from collections.abc import Callable, Mapping

import numpy as np

from streamlin.errors import ConfigError
from streamlin.events import Batch

OPTION = "time_unit"
PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
_NAMES = {"ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_LATEST = 3e11
"""Seconds; no date of RFC 3339 is as late, and no time in milliseconds after 1979 is as early."""
_YEAR = 31_556_952


def time_unit(options: Mapping[str, str]) -> float:
    """How many of the unit that the options name make a second. Raises ConfigError for an unknown unit."""
    unit = options.get(OPTION, "s")
    if unit not in PER_SECOND:
        raise ConfigError(f"source: invalid {OPTION}={unit}: expected one of {', '.join(PER_SECOND)}")
    return PER_SECOND[unit]


class TimeUnits:
    """Looks at the first time that each source gives.

    notice : shows the user one line.
    """

    def __init__(self, notice: Callable[[str], None]) -> None:
        self._notice = notice
        self._seen: set[str] = set()

    def observe(self, batch: Batch, source: str = "") -> None:
        """Take a batch of a source into account."""
        if source in self._seen:
            return
        known = batch.times[~np.isnan(batch.times)]
        if not known.size:
            return
        self._seen.add(source)
        first = float(known[0])
        if first > _LATEST:
            unit = next((unit for unit in _NAMES if first / PER_SECOND[unit] <= _LATEST), "ns")
            self._notice(
                f"times look like {_NAMES[unit]}: the first is {first:.0f}, in seconds the year "
                f"{1970 + first / _YEAR:,.0f}; if so, add {OPTION}={unit} to the source's URL"
            )
