"""Conversion of raw values to the columns of a batch.

The functions for columns raise RecordError if any of the values is bad.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from types import NoneType

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import RecordError
from streamlin.events import MAX_WEIGHT

Scalar = str | int | float | None

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_RFC_3339 = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)"
    r"(?:[Tt ](?P<minute>\d\d:\d\d):(?P<second>\d\d)(?P<fraction>\.\d+)?(?P<zone>[Zz]|[+-]\d\d:\d\d)?)?",
    re.ASCII,
)


def names(values: Sequence[Scalar]) -> list[str | None]:
    """Ids or labels: whole numbers (1, 1.0, 1e0) as their digits, others as Python writes the float; `""` is None."""
    if not set(map(type, values)) <= {str, NoneType}:
        values = [None if value is None else number_text(value) for value in values]
    return [value or None for value in values]  # type: ignore[misc]  # all are str


def number_text(value: str | int | float) -> str:
    """A number as text, the same for equal numbers; a text as it is."""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def checked_weights(values: Sequence[float | None]) -> NDArray[np.float64]:
    """float64[n]; None is 1. Raises RecordError for one that is not from 0 to `MAX_WEIGHT`."""
    if values.count(None) == len(values):
        return np.ones(len(values))
    column = np.array([1.0 if value is None else value for value in values], np.float64)
    check_weights(column)
    return column


def check_weights(column: NDArray[np.float64]) -> None:
    """Raise RecordError for a weight that is not from 0 to `MAX_WEIGHT`."""
    bad = ~((column >= 0.0) & (column <= MAX_WEIGHT))  # also refuses NaN
    if bad.any():
        raise RecordError(f"weight is {column[bad][0]:g}, expected a number from 0 to {MAX_WEIGHT:g}")


def unix_times(values: Sequence[Scalar], per_second: float = 1.0) -> NDArray[np.float64]:
    """float64[n] Unix seconds, NaN for None and `""`.

    per_second : how many of the unit of numbers, also of those in texts, make a second.
    """
    if values.count(None) == len(values):
        return np.full(len(values), np.nan)
    return np.fromiter((_seconds(value, per_second) for value in values), np.float64, len(values))


def is_number(text: str) -> bool:
    """Whether a text is a decimal number; NaN and infinity are not."""
    return _NUMBER.fullmatch(text) is not None


def number(text: str, name: str) -> float:
    """The number in a text. Raises RecordError, with `name` in its message."""
    if not is_number(text):
        raise RecordError(f"{name} is {text[:40]!r}, expected a number")
    return float(text)


def _seconds(value: Scalar, per_second: float) -> float:
    if value is None or value == "":
        return np.nan
    if isinstance(value, str) and (_begins_with_year(value) or not is_number(value)):
        return rfc_3339(value)
    try:
        seconds = float(value) / per_second
    except OverflowError:
        seconds = np.inf
    if not np.isfinite(seconds):
        raise RecordError("time is out of range, expected Unix seconds")
    return seconds


def _begins_with_year(text: str) -> bool:
    """Whether a text begins as RFC 3339 does, which no number does; quicker than to match either."""
    return text[4:5] == "-" and text[:4].isdigit()


def rfc_3339(text: str) -> float:
    """Unix seconds of an RFC 3339 date and time; UTC if it has no zone, midnight if it has no time.

    A leap second (:60) counts as the first second of the next minute.
    """
    match = _RFC_3339.fullmatch(text)
    if match is None:
        raise RecordError(f"time is {text[:40]!r}, expected Unix seconds or RFC 3339, such as 2024-05-01T12:00:00Z")
    date, minute, second, fraction, zone = match.groups()
    leap = second == "60"
    zone = "+00:00" if zone in (None, "Z", "z") else zone
    try:
        moment = datetime.fromisoformat(f"{date}T{minute or '00:00'}:{'59' if leap else second or '00'}{zone}")
    except ValueError as error:
        raise RecordError(f"time is {text[:40]!r}: {error}") from None
    return moment.timestamp() + leap + float(fraction or 0.0)
