"""Accepting events: they are on disk before the answer leaves; many requests share one write."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from streamlin.checkpoint.run_state import RunState
from streamlin.config import RunConfig
from streamlin.errors import ConnectorError
from streamlin.running.admission import Admission
from streamlin.service.body import Body
from streamlin.service.journal import Journal
from streamlin.service.problems import RETRY, Refused
from streamlin.service.promises import Promises
from streamlin.service.sentences import check_lengths, is_checked
from streamlin.service.source import JournalSource


class _Waiting(NamedTuple):
    """A request's lines, and the future that is done once they are on disk."""

    lines: Sequence[bytes]
    done: "asyncio.Future[None]"


class Acceptance:
    """Writes events to the journal in the order of their arrival; one thread writes for all requests that wait.

    For use on one event loop.

    source : reads the journal, and has read all that it held before. admission : the limits of what can be learned.
    """

    def __init__(
        self, config: RunConfig, journal: Journal, source: JournalSource, state: RunState, admission: Admission
    ) -> None:
        self._journal, self._source, self._state, self._format = journal, source, state, source.format
        self._most, self._by_id = config.serve.max_waiting, config.delayed_labels.by_id
        self._promises = Promises(config, admission, state, source, source.format)
        self._waiting: list[_Waiting] = []
        self._writing: asyncio.Task[None] | None = None
        self._unwritten = 0
        self._thread = ThreadPoolExecutor(1, "streamlin-journal")

    async def accept(self, bodies: Sequence[Body]) -> None:
        """Return once the events are durable.

        Raises
        ------
        Refused : too many events wait, they have too many new labels or features, or not as many tags as tokens; or the
            disk fails. None of them is accepted.
        """
        if not bodies:
            return
        if self._journal.lines + self._unwritten - self._source.taken + len(bodies) > self._most:
            raise Refused(503, f"{self._most} events wait to be learned; try again", RETRY)
        lines = [body.line(self._format) for body in bodies]
        self._unwritten += len(lines)
        try:
            if not all(map(is_checked, bodies)):
                await asyncio.to_thread(check_lengths, bodies, self._format, self._state)
            await self._promises.admit(bodies, lines)
        except Refused:
            self._unwritten -= len(lines)
            raise
        waiting = _Waiting(lines, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        try:
            await waiting.done
        except ConnectorError as error:
            raise Refused(503, str(error), RETRY) from None

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()

    def check_labels_by_id(self) -> None:
        """Raise Refused if the configuration does not have delayed labels by id."""
        if not self._by_id:
            raise Refused(409, "labels by id are disabled; start the service with --late-labels")

    async def _write(self) -> None:
        """Write until no request waits."""
        loop = asyncio.get_running_loop()
        while self._waiting:
            together, self._waiting = self._waiting, []
            lines = [line for waiting in together for line in waiting.lines]
            failure: Exception | None = None
            try:
                data = b"".join([line + b"\n" for line in lines])
                await loop.run_in_executor(self._thread, self._journal.append, data, len(lines))
            except Exception as error:
                failure = error
            self._unwritten -= len(lines)
            for _, done in together:
                if done.cancelled():
                    continue
                if failure is None:
                    done.set_result(None)
                else:
                    done.set_exception(failure)
        self._writing = None
