"""Calls run side by side."""

import threading

import pytest

from streamlin.learners.side_by_side import SideBySide


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_each_call_runs_once(threads: int) -> None:
    runner, done = SideBySide(threads), list[int]()
    for n in (0, 1, 2, 7):
        done.clear()
        runner.run([lambda i=i: done.append(i) for i in range(n)])
        assert sorted(done) == list(range(n))
    runner.close()


def test_two_threads_run_two_calls_at_the_same_time() -> None:
    runner, meeting = SideBySide(2), threading.Barrier(2)
    runner.run([lambda: meeting.wait(30)] * 2)  # each waits for the other
    runner.close()


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_of_any_call_is_raised(failing: int) -> None:
    runner, meeting = SideBySide(2), threading.Barrier(2)

    def call(number: int) -> None:
        meeting.wait(30)
        if number == failing:
            raise ValueError(number)

    with pytest.raises(ValueError, match=str(failing)):
        runner.run([lambda: call(0), lambda: call(1)])
    runner.close()
