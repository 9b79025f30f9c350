"""Doing things in order on a thread of their own."""

import threading
import time

import pytest

from streamlin.running.background_tasks import BackgroundTasks

PATIENCE = 10.0


@pytest.mark.parametrize("threaded", [True, False])
def test_in_order(threaded: bool) -> None:
    aside, done = BackgroundTasks(threaded), list[int]()
    for number in range(100):
        aside.do(done.append, number)
    aside.wait()
    assert done == list(range(100))
    aside.close()


def test_what_is_done_at_once_comes_after_all_before() -> None:
    aside, gate, done = BackgroundTasks(True), threading.Event(), list[object]()
    aside.do(gate.wait, PATIENCE)
    aside.do(done.append, "before")
    threading.Timer(0.05, gate.set).start()
    aside.do(lambda: done.append(threading.get_ident()), at_once=True)
    assert done == ["before", threading.get_ident()]
    aside.close()


def test_the_caller_goes_on_until_too_much_waits() -> None:
    aside, gate, given = BackgroundTasks(True), threading.Event(), list[int]()

    def give() -> None:
        for number in range(10):
            aside.do(gate.wait, PATIENCE)
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
    aside.wait()
    aside.close()


@pytest.mark.parametrize("threaded", [True, False])
def test_nothing_is_done_after_what_failed(threaded: bool) -> None:
    aside, done = BackgroundTasks(threaded), list[int]()

    def fail() -> None:
        raise ValueError("full")

    aside.do(done.append, 1)

    def do_all() -> None:
        aside.do(fail)
        aside.do(done.append, 2)
        aside.wait()

    with pytest.raises(ValueError, match="full"):
        do_all()
    aside.close()
    assert done == [1]


def test_closed_in_the_midst() -> None:
    aside, begun, gate, done = BackgroundTasks(True), threading.Event(), threading.Event(), list[int]()

    def slow() -> None:
        begun.set()
        gate.wait(PATIENCE)
        done.append(1)

    aside.do(slow)
    aside.do(done.append, 2)
    assert begun.wait(PATIENCE)
    threading.Timer(0.1, gate.set).start()
    aside.close()
    assert done == [1]
