"""Running calls in order on a worker thread."""

import threading
import time

import pytest

from streamlin.running.background_tasks import BackgroundTasks

PATIENCE = 180.0


@pytest.mark.parametrize("threaded", [True, False])
def test_calls_run_in_order(threaded: bool) -> None:
    tasks, done = BackgroundTasks(threaded), list[int]()
    for number in range(100):
        tasks.run(done.append, number)
    tasks.wait()
    assert done == list(range(100))
    tasks.close()


def test_an_inline_call_runs_after_all_calls_before() -> None:
    tasks, gate, done = BackgroundTasks(True), threading.Event(), list[object]()
    tasks.run(gate.wait, PATIENCE)
    tasks.run(done.append, "before")
    threading.Timer(0.05, gate.set).start()
    tasks.run(lambda: done.append(threading.get_ident()), inline=True)
    assert done == ["before", threading.get_ident()]
    tasks.close()


def test_the_caller_blocks_only_while_too_many_calls_wait() -> None:
    tasks, gate, given = BackgroundTasks(True), threading.Event(), list[int]()

    def give() -> None:
        for number in range(10):
            tasks.run(gate.wait, PATIENCE)
            given.append(number)

    giver = threading.Thread(target=give)
    giver.start()
    deadline = time.monotonic() + PATIENCE
    while len(given) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05)
    assert len(given) == 3
    gate.set()
    giver.join()
    tasks.wait()
    tasks.close()


@pytest.mark.parametrize("threaded", [True, False])
def test_no_call_runs_after_a_failure(threaded: bool) -> None:
    tasks, done = BackgroundTasks(threaded), list[int]()

    def fail() -> None:
        raise ValueError("full")

    tasks.run(done.append, 1)

    def run_all() -> None:
        tasks.run(fail)
        tasks.run(done.append, 2)
        tasks.wait()

    with pytest.raises(ValueError, match="full"):
        run_all()
    tasks.close()
    assert done == [1]


def test_closing_finishes_the_running_call_only() -> None:
    tasks, begun, gate, done = BackgroundTasks(True), threading.Event(), threading.Event(), list[int]()

    def slow() -> None:
        begun.set()
        gate.wait(PATIENCE)
        done.append(1)

    tasks.run(slow)
    tasks.run(done.append, 2)
    assert begun.wait(PATIENCE)
    threading.Timer(0.1, gate.set).start()
    tasks.close()
    assert done == [1]
