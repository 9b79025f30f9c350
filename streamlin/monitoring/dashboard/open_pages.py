"""The pages that are open in browsers, and the snapshots that are streamed to them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from streamlin.monitoring.dashboard.frames import Frame
from streamlin.monitoring.dashboard.watcher import Dashboard

_PERIOD = 0.25
"""Seconds between two checks for a new snapshot."""
_QUIET = 10.0
"""Seconds without a snapshot after which a page gets a sign of life."""


class OpenPages:
    """Streams every snapshot to every open page; a slow page gets the latest one once it is ready for it.

    count : how many pages are open.
    """

    def __init__(self, dashboard: Dashboard) -> None:
        self._dashboard = dashboard
        self._frame: Frame | None = None
        self._snapshot: Callable[[], dict[str, Any]] | None = None
        self._new_frame = asyncio.Condition()
        self.count = 0

    async def watch(self) -> None:
        """Check for new snapshots, forever; each is encoded once for all pages."""
        while True:
            if self.count:
                self._dashboard.request()
            await self._update()
            await asyncio.sleep(_PERIOD)

    async def messages(self) -> AsyncIterator[bytes]:
        """The stream of one page; it ends with the run's last snapshot."""
        self.count += 1
        try:
            seen = 0
            while True:
                frame = await self._next_frame(seen)
                if frame is None:
                    yield b": still there\n\n"
                    continue
                yield frame.news if frame.number == seen + 1 else frame.whole
                if frame.done:
                    return
                seen = frame.number
        finally:
            self.count -= 1

    async def _update(self) -> None:
        """Make a frame of the latest snapshot, if it is new and a page waits for it."""
        latest = self._dashboard.latest
        if latest is None or latest is self._snapshot or not self.count:
            return
        async with self._new_frame:
            self._frame, self._snapshot = Frame(latest(), self._frame), latest
            self._new_frame.notify_all()

    async def _next_frame(self, seen: int) -> Frame | None:
        """The latest frame once its number differs from `seen`; None if that takes too long."""
        async with self._new_frame:
            try:
                async with asyncio.timeout(_QUIET):
                    await self._new_frame.wait_for(lambda: self._frame is not None and self._frame.number != seen)
            except TimeoutError:
                return None
            return self._frame
