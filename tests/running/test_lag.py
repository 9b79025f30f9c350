"""How far a run is behind its source."""

import pytest

from streamlin.running.lag import LagMonitor, lags


@pytest.mark.parametrize(
    ("extent", "positions", "expected"),
    [
        ({}, {}, {}),
        ({"t/0": (0, 10)}, {}, {"t/0": 10}),
        ({"t/0": (4, 10)}, {}, {"t/0": 6}),
        ({"t/0": (4, 10)}, {"t/0": 7}, {"t/0": 3}),
        ({"t/0": (4, 10)}, {"t/0": 10}, {"t/0": 0}),
        ({"t/0": (4, 10)}, {"t/0": 12}, {"t/0": 0}),
        ({"t/0": (8, 10)}, {"t/0": 2}, {"t/0": 2}),
        ({"t/0": (0, 10), "t/1": (0, 20)}, {"t/1": 5, "other/0": 1}, {"t/0": 10, "t/1": 15}),
    ],
)
def test_lag_of_each_part(extent, positions, expected):
    """Counted from where reading goes on, or from where it began if that is later."""
    assert lags(extent, {part: {"offset": offset} for part, offset in positions.items()}) == expected


def notices(*observed: int) -> list[str | None]:
    """The notices at observations of these lags, ten seconds apart."""
    monitor, lines = LagMonitor(), []
    for number, lag in enumerate(observed):
        now = 1000.0 + 10 * number
        assert monitor.is_due(now)
        lines.append(monitor.observe(now, lag))
        assert not monitor.is_due(now + 9.9)
    return lines


def test_a_growing_lag_is_reported_once():
    """After it has grown three times in a row."""
    assert notices(5000, 6000, 7000, 8000, 9000, 10_000) == [
        *(None, None, None),
        "the lag is growing: 8,000 events wait, 3,000 more than 30 s ago",
        *(None, None),
    ]


@pytest.mark.parametrize(
    "observed",
    [
        (5000, 5000, 5000, 5000, 5000),
        (5000, 4000, 3000, 2000, 1000),
        (5000, 6000, 7000, 7000, 8000, 8000),
        (5000, 6000, 5500, 6500, 6000, 7000),
        (1, 2, 3, 4, 5, 999),
        (0, 0, 0, 0, 100_000),
    ],
)
def test_other_lags_are_not_reported(observed):
    """Neither a lag that does not grow all the time, nor a small one, nor a single leap (a burst)."""
    assert notices(*observed) == [None] * len(observed)


def test_a_lag_is_reported_again_after_it_shrank():
    lines = notices(5000, 6000, 7000, 8000, 4000, 5000, 6000, 7000, 8000)
    assert [number for number, line in enumerate(lines) if line] == [3, 7]
    assert lines[7] == "the lag is growing: 7,000 events wait, 3,000 more than 30 s ago"


def test_the_first_observation_is_due_at_once():
    assert LagMonitor().is_due(0.0)
