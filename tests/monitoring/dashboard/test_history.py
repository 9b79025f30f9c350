"""The course of the pace, bounded."""

from streamlin.monitoring.dashboard.history import LAST, History, Point


def test_point_holds_the_rate_since_the_previous_point() -> None:
    history = History()
    history.begin(0.0, 1000)
    assert not history.is_due(0.9)
    assert history.is_due(1.0)
    history.add(1.0, 1500, None)
    assert not history.is_due(1.9)
    assert history.is_due(1.5, LAST)
    assert not history.is_due(1.4, LAST)
    history.add(3.0, 1600, 7)
    assert history.points == [Point(1.0, 500.0, None), Point(3.0, 50.0, 7)]


def test_neighbouring_points_are_merged_when_full() -> None:
    """Room for 4: at the fourth point pairs become means, and the next is due after 2 s."""
    history = History(room=4)
    for second, events in enumerate([10, 30, 60, 100], 1):
        assert history.is_due(second)
        history.add(second, events, second)
    assert history.points == [Point(2, 15.0, 2), Point(4, 35.0, 4)]
    assert not history.is_due(5.0)
    assert history.is_due(6.0)


def test_a_day_of_points_takes_bounded_memory() -> None:
    history = History()
    for second in range(1, 86_401):
        if history.is_due(second):
            history.add(second, 100 * second, 0)
            assert len(history.points) < 240
    assert len(history.points) >= 120
    assert {point.events_per_second for point in history.points} == {100.0}
