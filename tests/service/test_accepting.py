"""Accepting events: many writers, one file, and a reader that may be slow."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from streamlin.checkpoint.run_state import RunState
from streamlin.config import RunConfig
from streamlin.config.loading import load_config
from streamlin.running.admission import Admission
from streamlin.service.accepting import Acceptance
from streamlin.service.bodies import Text
from streamlin.service.journal import Journal
from streamlin.service.problems import Refused
from streamlin.service.source import JournalSource
from streamlin.streams.json_lines import json_lines

LIMITS = {"serve.max_waiting": 10, "serve.max_batch": 5}


@asynccontextmanager
async def acceptance(folder: Path, **flags: Any) -> AsyncIterator[tuple[Acceptance, JournalSource]]:
    """An acceptance whose journal the test reads."""
    config = load_config(flags=LIMITS | flags, environment={})
    journal = Journal(folder, None)
    source = JournalSource(journal, None, json_lines(config))
    state = RunState(config)
    accepting = Acceptance(config, journal, source, state, Admission(state.model, config))
    try:
        yield accepting, source
    finally:
        accepting.close()
        journal.close()


def bodies(count: int, name: str = "") -> list[Text]:
    return [Text(text=f"{name}{number}") for number in range(count)]


def running(test: Callable[[Path], Coroutine[Any, Any, None]]) -> Callable[[Path], None]:
    """A test on an event loop."""

    def run(tmp_path: Path) -> None:
        asyncio.run(test(tmp_path))

    run.__doc__ = test.__doc__
    return run


@running
async def test_events_beyond_max_waiting_are_refused(tmp_path: Path) -> None:
    """Nothing of a refused request is kept; reading makes room."""
    async with acceptance(tmp_path) as (accepting, source):
        await accepting.accept(bodies(5))
        await accepting.accept(bodies(5))
        with pytest.raises(Refused) as refused:
            await accepting.accept(bodies(1))
        assert refused.value.answer.headers["retry-after"] == "1"
        assert (refused.value.status, refused.value.reason) == (503, "10 events wait to be learned; try again")
        assert source.poll(3)
        with pytest.raises(Refused):
            await accepting.accept(bodies(4))
        await accepting.accept(bodies(3))


@running
async def test_concurrent_requests_are_written_in_order(tmp_path: Path) -> None:
    """In the order of their arrival; requests beyond max_waiting are refused at once."""
    async with acceptance(tmp_path, **{"serve.max_waiting": 100}) as (accepting, source):
        answers = await asyncio.gather(
            *(accepting.accept(bodies(4, f"{number} ")) for number in range(30)), return_exceptions=True
        )
        assert answers[:25] == [None] * 25
        assert all(isinstance(answer, Refused) for answer in answers[25:])
        (records,) = source.poll(1000) or ()
        batch, _ = source.format.decode(records)
        assert batch.texts == [f"{number} {i}" for number in range(25) for i in range(4)]


@running
async def test_a_client_that_disconnects_does_not_disturb_others(tmp_path: Path) -> None:
    """Its events are kept, and the other requests are answered."""
    async with acceptance(tmp_path) as (accepting, source):
        gone = asyncio.create_task(accepting.accept(bodies(2)))
        stays = asyncio.create_task(accepting.accept(bodies(2)))
        await asyncio.sleep(0)
        gone.cancel()
        await stays
        (records,) = source.poll(10) or ()
        assert len(records) == 4


def test_max_waiting_must_be_at_least_max_batch() -> None:
    with pytest.raises(Exception, match=r"serve\.max_waiting: at least serve\.max_batch = 1000, got 999"):
        RunConfig(serve={"max_waiting": 999})  # type: ignore[arg-type]  # as a file has it
