"""The options of `synthetic://` and their checks."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from connectors.synthetic.generative_story import Drift, zipf_shares
from streamlin.errors import ConfigError, nearest

_LARGEST_TABLE = 50_000_000
_MOST_EVENTS = 2**62


@dataclass(frozen=True)
class SyntheticOptions:
    """The parameters of a synthetic stream.

    events : the number of events; None for an endless stream (`0` or `inf` in the URL).
    labels : the number of labels, >= 2.
    words : the number of words in each text, >= 1.
    vocabulary : the number of different words, >= 2.
    seed : >= 0; a different seed gives a different stream.
    zipf : exponent of the words' Zipf distribution, > 0; a larger one is more uneven.
    separation : how different the labels' word distributions are, >= 0 (see `shifted_orders`); at 0.5 the best
        possible accuracy is about 95 % with two labels, 89 % with four.
    prior : `uniform`, `zipf`, or a share for each label, separated by commas; they need not sum to 1.
    unlabelled : share of the events whose label is hidden, 0 to 1.
    drift_at : the number of the event at which the labels begin to exchange their words; None for no drift.
    drift_over : the number of events over which they do; 0 for a sudden change.
    """

    events: int | None = 100_000
    labels: int = 2
    words: int = 25
    vocabulary: int = 10_000
    seed: int = 0
    zipf: float = 1.0
    separation: float = 0.5
    prior: str = "uniform"
    unlabelled: float = 0.0
    drift_at: int | None = None
    drift_over: int = 0

    @property
    def drift(self) -> Drift | None:
        """None without `drift_at`."""
        return None if self.drift_at is None else Drift(self.drift_at, self.drift_over)

    @property
    def label_shares(self) -> NDArray[np.float64]:
        """float64[labels], P(k)."""
        if self.prior in ("uniform", "zipf"):
            return zipf_shares(self.labels, float(self.prior == "zipf"))
        shares: NDArray[np.float64] = np.array([float(share) for share in self.prior.split(",")])
        shares /= shares.sum()
        return shares


def parse_options(options: Mapping[str, str]) -> SyntheticOptions:
    """The options of a URL. Raises ConfigError with the option, its value and what is expected."""
    known = [field.name for field in fields(SyntheticOptions)]
    values: dict[str, Any] = {}
    for name, text in options.items():
        if name not in known:
            raise ConfigError(f"synthetic://: no option '{name}'; {nearest(name, known)}")
        values[name] = _READERS[name](name, text)
    parsed = SyntheticOptions(**values)
    _check_together(parsed)
    return parsed


def _check_together(options: SyntheticOptions) -> None:
    if options.labels * options.vocabulary > _LARGEST_TABLE:
        raise ConfigError(
            f"synthetic://: labels={options.labels} times vocabulary={options.vocabulary} "
            f"needs to be at most {_LARGEST_TABLE:,}"
        )
    if options.drift_over and options.drift_at is None:
        raise ConfigError(f"synthetic://: drift_over={options.drift_over} needs drift_at, the event it begins at")
    if options.label_shares.size != options.labels:
        raise ConfigError(
            f"synthetic://: prior={options.prior} has {options.label_shares.size} shares, but labels={options.labels}; "
            "give each label one"
        )


def _wrong(name: str, text: str, right: str) -> ConfigError:
    return ConfigError(f"synthetic://: {name}={text} needs to be {right}")


def _whole(least: int, most: int) -> Callable[[str, str], int]:
    def read(name: str, text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most):
            raise _wrong(name, text, f"a whole number from {least} to {most:,}")
        return int(text)

    return read


def _number(accepts: Callable[[float], bool], right: str) -> Callable[[str, str], float]:
    def read(name: str, text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not (math.isfinite(number) and accepts(number)):
            raise _wrong(name, text, right)
        return number

    return read


def _count(name: str, text: str) -> int | None:
    if text in ("0", "inf"):
        return None
    try:
        return _whole(1, _MOST_EVENTS)(name, text)
    except ConfigError:
        raise _wrong(name, text, "a whole number, or inf for an endless stream") from None


def _prior(name: str, text: str) -> str:
    if text not in ("uniform", "zipf"):
        right = "uniform, zipf, or positive shares separated by commas"
        for share in text.split(","):
            try:
                _share(name, share)
            except ConfigError:
                raise _wrong(name, text, right) from None
    return text


_share = _number(lambda number: 1e-100 <= number <= 1e100, "a positive number")

_READERS: dict[str, Callable[[str, str], Any]] = {
    "events": _count,
    "labels": _whole(2, 10_000),
    "words": _whole(1, 1000),
    "vocabulary": _whole(2, 10_000_000),
    "seed": _whole(0, 2**63 - 1),
    "zipf": _number(lambda number: 0 < number <= 10, "a number above 0, at most 10"),
    "separation": _number(lambda number: 0 <= number <= 100, "a number from 0 to 100"),
    "prior": _prior,
    "unlabelled": _number(lambda number: 0 <= number <= 1, "a share from 0 to 1"),
    "drift_at": _whole(0, _MOST_EVENTS),
    "drift_over": _whole(0, _MOST_EVENTS),
}
