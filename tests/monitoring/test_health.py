"""Readiness and health of a run."""

from streamlin.monitoring.health import STALLED, Health


def test_a_run_is_ready_once_it_records_progress() -> None:
    health = Health()
    assert not health.ready
    assert health.problem(1e9) is None
    health.record(0.0, 0, None)
    assert health.ready


def test_unhealthy_without_progress_while_events_wait() -> None:
    """Progress at second 10, none until 70: unhealthy; another event at 75: healthy again."""
    health = Health()
    health.record(10.0, 100, 5000)
    health.record(69.0, 100, 5000)
    assert health.problem(10.0 + STALLED - 0.1) is None
    assert health.problem(10.0 + STALLED) == "no progress for 60 s, and 5,000 events wait"
    health.record(75.0, 101, 4999)
    assert health.problem(75.0) is None


def test_unhealthy_when_the_thread_hangs_and_records_nothing() -> None:
    health = Health()
    health.record(0.0, 100, 5000)
    assert health.problem(500.0) is not None


def test_healthy_while_no_events_wait() -> None:
    """An hour without events; then some arrive, and the run has a minute to start with them."""
    health = Health()
    health.record(0.0, 100, 0)
    health.record(3600.0, 100, 0)
    assert health.problem(3600.0) is None
    health.record(3601.0, 100, 40)
    assert health.problem(3601.0 + STALLED - 2) is None
    assert health.problem(3601.0 + STALLED) is not None


def test_healthy_where_the_lag_is_unknown() -> None:
    health = Health()
    health.record(0.0, 100, None)
    assert health.problem(1e9) is None
