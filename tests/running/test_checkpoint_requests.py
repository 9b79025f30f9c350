"""Checkpoints that a source requests."""

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
    """A thread of the source."""
    with ThreadPoolExecutor(1) as thread:
        yield thread


def pending_request(requests: CheckpointRequests, source: ThreadPoolExecutor) -> "Future[bool]":
    """A request that is pending, since the learner is busy."""
    request = source.submit(requests.request)
    for _ in range(int(SECONDS / 0.01)):
        if requests.pending:
            return request
        threading.Event().wait(0.01)
    raise AssertionError("no request is pending")


def test_a_request_of_the_learner_is_met_at_once(requests: CheckpointRequests, saved: list[int]) -> None:
    """Also while it reads from the source."""
    assert requests.request()
    assert list(requests.watch(requests.request() for _ in range(2))) == [True, True]
    assert saved == [threading.get_ident()] * 3


def test_a_busy_learner_saves_between_portions(
    requests: CheckpointRequests, source: ThreadPoolExecutor, saved: list[int]
) -> None:
    """It saves once for each request."""
    assert not requests.pending
    request = pending_request(requests, source)
    assert not saved
    assert not request.done()
    requests.save_pending()
    assert request.result(SECONDS)
    assert saved == [threading.get_ident()]
    assert not requests.pending
    requests.save_pending()
    assert len(saved) == 1


def test_the_source_saves_while_the_learner_waits_for_it(
    requests: CheckpointRequests, source: ThreadPoolExecutor, saved: list[int]
) -> None:
    """The requesting thread saves in the learner's place, which is blocked."""

    def gives() -> Iterator[bool]:
        for _ in range(2):
            yield source.submit(requests.request).result(SECONDS)

    (other,) = source.map(lambda _: threading.get_ident(), [None])
    assert list(requests.watch(gives())) == [True, True]
    assert saved == [other] * 2
    assert not requests.pending


def test_reading_ahead_does_not_count_as_waiting(
    requests: CheckpointRequests, source: ThreadPoolExecutor, saved: list[int]
) -> None:
    """The learner may be doing anything while another thread reads ahead, so the learner has to save."""
    reached, go_on = threading.Event(), threading.Event()

    def gives() -> Iterator[int]:
        reached.set()
        assert go_on.wait(SECONDS)
        yield 1

    items = requests.watch(gives())
    with ThreadPoolExecutor(1) as reader:
        item = reader.submit(next, items)
        assert reached.wait(SECONDS)
        request = pending_request(requests, source)
        assert not saved
        requests.save_pending()
        assert request.result(SECONDS)
        go_on.set()
        assert item.result(SECONDS) == 1
    assert saved == [threading.get_ident()]


def test_a_pending_request_is_met_when_the_learner_waits(
    requests: CheckpointRequests, source: ThreadPoolExecutor, saved: list[int]
) -> None:
    """The request came while the learner was busy; the learner goes on to the source without having seen it."""
    request = pending_request(requests, source)

    def gives() -> Iterator[bool]:
        yield request.result(SECONDS)

    assert list(requests.watch(gives())) == [True]
    (other,) = source.map(lambda _: threading.get_ident(), [None])
    assert saved == [other]


def test_the_end_releases_pending_requests(
    requests: CheckpointRequests, source: ThreadPoolExecutor, saved: list[int]
) -> None:
    request = pending_request(requests, source)
    requests.end()
    assert request.result(SECONDS) is False
    assert source.submit(requests.request).result(SECONDS) is False
    assert not saved


def test_a_failure_is_raised_on_the_saving_thread(source: ThreadPoolExecutor) -> None:
    """The pending request returns that the run has ended."""

    def fail() -> None:
        raise ConnectorError("the disk is full")

    requests = CheckpointRequests(fail)
    with pytest.raises(ConnectorError, match="the disk is full"):
        requests.request()
    request = pending_request(requests, source)
    with pytest.raises(ConnectorError, match="the disk is full"):
        requests.save_pending()
    requests.end()
    assert request.result(SECONDS) is False
