"""Working ahead on a thread."""

import itertools
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from streamlin.ahead import Ahead

DEADLINE = 20.0


def ahead_of(
    items: Iterator[Any], depth: int = 2, stop: threading.Event | None = None, patience: float = DEADLINE
) -> Ahead:
    return Ahead(items, depth, patience, stop or threading.Event())


def test_any_exception_crosses_the_thread() -> None:
    def failing() -> Iterator[int]:
        yield from range(5)
        raise ZeroDivisionError("of the source")

    items = iter(ahead_of(failing(), depth=1))
    assert [next(items) for _ in range(5)] == list(range(5))
    with pytest.raises(ZeroDivisionError, match="of the source"):
        next(items)


def test_it_is_a_few_items_ahead_and_no_more() -> None:
    made = itertools.count()
    last = 0

    def making() -> Iterator[int]:
        nonlocal last
        for last in made:
            yield last
            if last == 500:
                return

    depth = 3
    for i, item in enumerate(ahead_of(making(), depth)):
        assert item == i
        assert last <= i + depth + 2


def test_what_is_small_is_taken_before_more_is_asked_for() -> None:
    asked = []

    def making() -> Iterator[int]:
        for number in range(200):
            asked.append(number)
            yield number

    stop = threading.Event()
    ahead = Ahead(making(), 3, DEADLINE, stop, lambda item: item < 100)
    for item in ahead:
        if item < 100:
            assert asked[-1] <= item + 1
    assert len(asked) == 200
    waiting = Ahead(iter(range(10)), 3, DEADLINE, stop, lambda item: True)
    time.sleep(0.05)
    stop.set()
    assert ends(waiting)


def ends(ahead: Ahead) -> bool:
    """Whether the thread ends soon."""
    waiting = threading.Thread(target=ahead.join, daemon=True)
    waiting.start()
    waiting.join(DEADLINE)
    return not waiting.is_alive()


@pytest.mark.parametrize("read_first", [0, 3])
def test_a_stop_ends_the_thread_however_full_the_queue_is(read_first: int) -> None:
    stop = threading.Event()
    ahead = ahead_of(itertools.count(), stop=stop)
    items = iter(ahead)
    assert [next(items) for _ in range(read_first)] == list(range(read_first))
    stop.set()
    assert ends(ahead)
    assert len(list(items)) <= 2, "the rest is not handed over"


def test_a_stop_reaches_whoever_waits_for_the_next_item() -> None:
    stop, blocked = threading.Event(), threading.Event()

    def waiting() -> Iterator[int]:
        yield 1
        blocked.set()
        stop.wait(DEADLINE)

    items = iter(ahead_of(waiting(), stop=stop))
    assert next(items) == 1
    assert blocked.wait(DEADLINE)
    threading.Timer(0.02, stop.set).start()
    assert list(items) == []


def test_where_nothing_comes_it_says_so() -> None:
    """After its patience has run out it gives None, so that what was written can be handed on."""
    more = threading.Event()

    def slow() -> Iterator[int | None]:
        yield 1
        yield None
        more.wait(DEADLINE)
        yield 2

    items = iter(ahead_of(slow(), patience=0.01))
    assert next(item for item in items if item is not None) == 1
    assert next(items) is None
    assert next(items) is None
    more.set()
    deadline = time.monotonic() + DEADLINE
    rest = [item for item in itertools.takewhile(lambda _: time.monotonic() < deadline, items) if item is not None]
    assert rest == [2]
