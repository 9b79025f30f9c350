"""Reading ahead on a thread."""

import itertools
import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from streamlin.config.loading import load_config
from streamlin.events import Batch
from streamlin.model import Features
from streamlin.running.loop import Run
from streamlin.running.read_ahead import ReadAhead
from tests.silent import Silent

DEADLINE = 20.0


def ahead_of(
    items: Iterator[Any], depth: int = 2, stop: threading.Event | None = None, idle_seconds: float = DEADLINE
) -> ReadAhead:
    return ReadAhead(items, depth, idle_seconds, stop or threading.Event())


def test_an_exception_reaches_the_consumer() -> None:
    def failing() -> Iterator[int]:
        yield from range(5)
        raise ZeroDivisionError("of the source")

    items = iter(ahead_of(failing(), depth=1))
    assert [next(items) for _ in range(5)] == list(range(5))
    with pytest.raises(ZeroDivisionError, match="of the source"):
        next(items)


def test_it_reads_only_a_few_items_ahead() -> None:
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


def test_the_consumer_reads_directly_while_items_are_small() -> None:
    readers = []

    def making() -> Iterator[int | None]:
        for number in range(300):
            readers.append(threading.current_thread())
            yield number
            if number == 50:
                yield None  # nothing available at the moment

    def is_small(item: int) -> bool:
        return item < 100 or 200 <= item < 290

    ahead = ReadAhead(making(), 3, DEADLINE, threading.Event(), is_small)
    given = list(ahead)
    assert [item for item in given if item is not None] == list(range(300))
    assert given.count(None) == 1
    here = threading.current_thread()
    direct = [number for number, reader in enumerate(readers) if reader is here]
    assert direct == [*range(1, 101), *range(201, 291)], "after each small item, and nowhere else"
    assert ends(ahead)


def test_an_exception_reaches_a_consumer_that_reads_directly() -> None:
    def failing() -> Iterator[int]:
        yield from range(5)
        raise ZeroDivisionError("of the source")

    stop = threading.Event()
    ahead = ReadAhead(failing(), 3, DEADLINE, stop, lambda item: True)
    items = iter(ahead)
    assert [next(items) for _ in range(5)] == list(range(5))
    with pytest.raises(ZeroDivisionError, match="of the source"):
        next(items)
    stop.set()
    assert ends(ahead)


def test_a_stop_ends_the_thread_during_direct_reading() -> None:
    stop = threading.Event()
    ahead = ReadAhead(iter(range(10)), 3, DEADLINE, stop, lambda item: True)
    time.sleep(0.05)
    stop.set()
    assert ends(ahead)


def test_a_stop_while_the_consumer_reads_directly_raises_nothing() -> None:
    """The thread must not enter the iterator, in which the consumer still waits for an item."""
    stop, waits, more = threading.Event(), threading.Event(), threading.Event()

    def slow() -> Iterator[int]:
        yield 1
        waits.set()
        more.wait(DEADLINE)
        yield 2

    ahead = ReadAhead(slow(), 3, DEADLINE, stop, lambda item: True)
    taken = list[int]()
    consumer = threading.Thread(target=lambda: taken.extend(ahead), daemon=True)
    consumer.start()
    assert waits.wait(DEADLINE)
    stop.set()
    assert ends(ahead)
    more.set()
    consumer.join(DEADLINE)
    assert not consumer.is_alive()
    assert taken == [1, 2]
    assert ahead._error is None


def ends(ahead: ReadAhead) -> bool:
    """Whether the thread ends soon."""
    waiting = threading.Thread(target=ahead.join, daemon=True)
    waiting.start()
    waiting.join(DEADLINE)
    return not waiting.is_alive()


@pytest.mark.parametrize("read_first", [0, 3])
def test_a_stop_ends_the_thread_with_any_queue(read_first: int) -> None:
    stop = threading.Event()
    ahead = ahead_of(itertools.count(), stop=stop)
    items = iter(ahead)
    assert [next(items) for _ in range(read_first)] == list(range(read_first))
    stop.set()
    assert ends(ahead)
    assert len(list(items)) <= 2, "the rest is not handed over"


class Interrupted(ReadAhead):
    """Discards one item, as if the consumer took the next one just then."""

    def _discard(self) -> None:
        self._queue.get_nowait()


def test_nothing_is_given_behind_an_item_that_a_stop_has_discarded() -> None:
    stop, made = threading.Event(), threading.Event()

    def three() -> Iterator[int]:
        yield from (1, 2, 3)
        made.set()
        stop.wait(DEADLINE)

    ahead = Interrupted(three(), 3, DEADLINE, stop)
    assert made.wait(DEADLINE)
    stop.set()
    assert ends(ahead)
    assert list(ahead) == []


def test_a_stop_ends_the_wait_for_an_item() -> None:
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


def test_none_is_given_while_no_item_comes() -> None:
    """So that the consumer can flush its sinks meanwhile."""
    more = threading.Event()

    def slow() -> Iterator[int | None]:
        yield 1
        yield None
        more.wait(DEADLINE)
        yield 2

    items = iter(ahead_of(slow(), idle_seconds=0.01))
    assert next(item for item in items if item is not None) == 1
    assert next(items) is None
    assert next(items) is None
    more.set()
    deadline = time.monotonic() + DEADLINE
    rest = [item for item in itertools.takewhile(lambda _: time.monotonic() < deadline, items) if item is not None]
    assert rest == [2]


class Noted:
    """The threads that find the features of a run's batches, in order."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch, *settings: str) -> None:
        self.threads: list[str] = []
        with closing(Run(load_config(None, {"source.url": str(path)}, settings, ["perceptron"]), Silent())) as run:
            featurize = run.model.featurize

            def noted(batch: Batch) -> Features:
                self.threads.append(threading.current_thread().name)
                return featurize(batch)

            monkeypatch.setattr(run.model, "featurize", noted)
            run.run()


def test_long_texts_are_read_ahead_though_a_block_holds_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is read in blocks of a megabyte, eight of these texts; a live source would give as few."""
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"text": f"w{i} " * 40_000, "label": str(i % 2)}) + "\n" for i in range(32)))
    threads = Noted(path, monkeypatch).threads
    assert len(threads) > 2
    assert set(threads) == {"streamlin-reader"}


@pytest.mark.parametrize("threads", [2, 3, 4])
def test_texts_are_read_ahead_though_a_block_holds_a_few_more_than_full_batches(
    threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A block of a megabyte is 8,128 of these lines, two batches and a rest of 128, as a live source might give."""
    path = tmp_path / "in.jsonl"
    lines = [json.dumps({"text": f"{i:06} " + "word " * 19, "label": str(i % 2)}) + "\n" for i in range(40_000)]
    assert {len(line) for line in lines} == {129}
    path.write_text("".join(lines))
    seen = Noted(path, monkeypatch, f"pipeline.threads={threads}").threads
    assert len(seen) > 10
    first = {"streamlin-reader"} if threads == 2 else {f"streamlin-features_{number}" for number in range(threads - 1)}
    assert set(seen) <= first
