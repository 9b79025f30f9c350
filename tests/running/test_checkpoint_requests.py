"""Checkpoints that a source asks for."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from streamlin.errors import ConnectorError
from streamlin.running.checkpoint_requests import CheckpointRequests

SECONDS = 20.0


@pytest.fixture
def saved() -> list[int]:
    """The threads that saved."""
    return []


@pytest.fixture
def requests(saved: list[int]) -> CheckpointRequests:
    return CheckpointRequests(lambda: saved.append(threading.get_ident()))


@pytest.fixture
def source() -> Iterator[ThreadPoolExecutor]:
    """A thread of the source's."""
    with ThreadPoolExecutor(1) as thread:
        yield thread


def asked(requests: CheckpointRequests, source: ThreadPoolExecutor) -> "Future[bool]":
    """A request that waits: who learns is busy."""
    asking = source.submit(requests.ask)
    for _ in range(int(SECONDS / 0.01)):
        if requests.waiting:
            return asking
        threading.Event().wait(0.01)
    raise AssertionError("nobody asks")


def test_by_the_one_that_learns(requests: CheckpointRequests, saved: list[int]) -> None:
    """At once: on his thread nothing else goes on. In the midst of reading too."""
    assert requests.ask()
    assert list(requests.watch(requests.ask() for _ in range(2))) == [True, True]
    assert saved == [threading.get_ident()] * 3


def test_while_the_one_that_learns_is_busy(
    requests: CheckpointRequests, source: ThreadPoolExecutor, saved: list[int]
) -> None:
    """He saves, when he comes to it; once for each request."""
    assert not requests.waiting
    asking = asked(requests, source)
    assert not saved
    assert not asking.done()
    requests.meet()
    assert asking.result(SECONDS)
    assert saved == [threading.get_ident()]
    assert not requests.waiting
    requests.meet()
    assert len(saved) == 1


def test_while_the_one_that_learns_waits_for_the_source(
    requests: CheckpointRequests, source: ThreadPoolExecutor, saved: list[int]
) -> None:
    """It is saved in his place, on the thread that asks: he could not."""

    def gives() -> Iterator[bool]:
        for _ in range(2):
            yield source.submit(requests.ask).result(SECONDS)

    (other,) = source.map(lambda _: threading.get_ident(), [None])
    assert list(requests.watch(gives())) == [True, True]
    assert saved == [other] * 2
    assert not requests.waiting


def test_while_another_thread_reads_ahead(
    requests: CheckpointRequests, source: ThreadPoolExecutor, saved: list[int]
) -> None:
    """Then who learns may be at anything, so it is he that saves; what is read ahead is no sign of his waiting."""
    reached, go_on = threading.Event(), threading.Event()

    def gives() -> Iterator[int]:
        reached.set()
        assert go_on.wait(SECONDS)
        yield 1

    items = requests.watch(gives())
    with ThreadPoolExecutor(1) as reader:
        item = reader.submit(next, items)
        assert reached.wait(SECONDS)
        asking = asked(requests, source)
        assert not saved
        requests.meet()
        assert asking.result(SECONDS)
        go_on.set()
        assert item.result(SECONDS) == 1
    assert saved == [threading.get_ident()]


def test_one_that_waits_is_met_when_the_source_is_waited_for(
    requests: CheckpointRequests, source: ThreadPoolExecutor, saved: list[int]
) -> None:
    """It came while who learns was busy; he goes on to the source without having looked."""
    asking = asked(requests, source)

    def gives() -> Iterator[bool]:
        yield asking.result(SECONDS)

    assert list(requests.watch(gives())) == [True]
    (other,) = source.map(lambda _: threading.get_ident(), [None])
    assert saved == [other]


def test_after_the_end_nobody_waits(requests: CheckpointRequests, source: ThreadPoolExecutor, saved: list[int]) -> None:
    asking = asked(requests, source)
    requests.end()
    assert asking.result(SECONDS) is False
    assert source.submit(requests.ask).result(SECONDS) is False
    assert not saved


def test_what_goes_wrong_is_raised_where_it_is_saved(source: ThreadPoolExecutor) -> None:
    """By who saves; who asked learns that the run is over."""

    def fail() -> None:
        raise ConnectorError("the disk is full")

    requests = CheckpointRequests(fail)
    with pytest.raises(ConnectorError, match="the disk is full"):
        requests.ask()
    asking = asked(requests, source)
    with pytest.raises(ConnectorError, match="the disk is full"):
        requests.meet()
    requests.end()
    assert asking.result(SECONDS) is False
