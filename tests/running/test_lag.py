"""How far a run is behind."""

import pytest

from streamlin.running.lag import LagWatch, lags


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
def test_what_waits_in_each_part(extent, positions, expected):
    """Behind where reading goes on, or began if that is later: what lies before is not waited for."""
    assert lags(extent, {part: {"offset": offset} for part, offset in positions.items()}) == expected


def told(*looks: int) -> list[str | None]:
    """What is said at each of the looks, ten seconds apart."""
    watch, lines = LagWatch(), []
    for number, lag in enumerate(looks):
        now = 1000.0 + 10 * number
        assert watch.due(now)
        lines.append(watch.look(now, lag))
        assert not watch.due(now + 9.9)
    return lines


def test_a_lag_that_grows_is_told_once():
    """After it has grown from look to look three times."""
    assert told(5000, 6000, 7000, 8000, 9000, 10_000) == [
        *(None, None, None),
        "the lag grows: 8,000 events wait, 3,000 more than 30 s ago",
        *(None, None),
    ]


@pytest.mark.parametrize(
    "looks",
    [
        (5000, 5000, 5000, 5000, 5000),
        (5000, 4000, 3000, 2000, 1000),
        (5000, 6000, 7000, 7000, 8000, 8000),
        (5000, 6000, 5500, 6500, 6000, 7000),
        (1, 2, 3, 4, 5, 999),
        (0, 0, 0, 0, 100_000),
    ],
)
def test_one_that_does_not_is_not(looks):
    """Neither is one that is small, nor a single leap: a burst."""
    assert told(*looks) == [None] * len(looks)


def test_it_is_told_again_when_it_has_been_smaller():
    lines = told(5000, 6000, 7000, 8000, 4000, 5000, 6000, 7000, 8000)
    assert [number for number, line in enumerate(lines) if line] == [3, 7]
    assert lines[7] == "the lag grows: 7,000 events wait, 3,000 more than 30 s ago"


def test_the_first_look_is_due_at_once():
    assert LagWatch().due(0.0)
