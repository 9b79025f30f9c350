"""A time limit for the headers of a connection's first request, which uvicorn does not have."""

import asyncio
from typing import Any


def with_head_timeout(protocol: type[asyncio.Protocol], seconds: float) -> type[asyncio.Protocol]:
    """The protocol of uvicorn, with a limit for the headers of the first request on a connection."""
    return type(protocol.__name__, (_HeadTimeout, protocol), {"head_seconds": seconds})


class _HeadTimeout(asyncio.Protocol):
    """Closes a connection on which no request has arrived in time; a body may take longer."""

    head_seconds: float
    cycle: Any  # uvicorn's: None until the headers of a request are complete

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.head_seconds, self._close_without_request, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def _close_without_request(self, transport: asyncio.BaseTransport) -> None:
        if self.cycle is None:
            transport.close()
