"""Ready, and well."""

from streamlin.monitoring.health import STALLED, Health


def test_ready_once_it_was_seen() -> None:
    health = Health()
    assert not health.ready
    assert health.trouble(1e9) is None
    health.seen(0.0, 0, None)
    assert health.ready


def test_no_progress_though_events_wait() -> None:
    """Progress at second 10, none until 70: not well; another event at 75: well again."""
    health = Health()
    health.seen(10.0, 100, 5000)
    health.seen(69.0, 100, 5000)
    assert health.trouble(10.0 + STALLED - 0.1) is None
    assert health.trouble(10.0 + STALLED) == "no progress for 60 s, and 5,000 events wait"
    health.seen(75.0, 101, 4999)
    assert health.trouble(75.0) is None


def test_a_thread_that_hangs_is_noticed_without_being_seen_again() -> None:
    health = Health()
    health.seen(0.0, 100, 5000)
    assert health.trouble(500.0) is not None


def test_nothing_waits_so_nothing_is_wrong() -> None:
    """An hour without events; then some come, and it has a minute to begin with them."""
    health = Health()
    health.seen(0.0, 100, 0)
    health.seen(3600.0, 100, 0)
    assert health.trouble(3600.0) is None
    health.seen(3601.0, 100, 40)
    assert health.trouble(3601.0 + STALLED - 2) is None
    assert health.trouble(3601.0 + STALLED) is not None


def test_where_the_lag_is_not_known_nothing_is_said() -> None:
    health = Health()
    health.seen(0.0, 100, None)
    assert health.trouble(1e9) is None
