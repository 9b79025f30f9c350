"""uvicorn's server, which accepts connections only while the process can have more files open."""

import asyncio
import socket
from contextlib import suppress
from typing import Any

import uvicorn

from streamlin.monitoring.connections import Connections

_PAUSE = 0.1
"""Seconds until connections are accepted again after that failed, as where no file can be opened."""
_LAST_BODIES = 1.0
"""Seconds in which bodies may still arrive once the server stops."""


class UvicornServer(uvicorn.Server):
    """Accepts connections one by one: event loops accept all that ask, before any of them can be counted.

    listener : a bound socket, closed at the end. connections : decides which connections are kept.
    """

    def __init__(self, config: uvicorn.Config, listener: socket.socket, connections: Connections) -> None:
        super().__init__(config)
        self._listener, self._connections = listener, connections
        self._accepting: asyncio.Task[None]
        self._is_connecting = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections."""
        await super().startup(sockets=[])
        self._listener.setblocking(False)
        self._accepting = asyncio.create_task(self._accept())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End once running requests are answered, or too late."""
        while self._is_connecting:  # a connection that is cancelled meanwhile would never be told that it is closed
            await asyncio.sleep(0.001)
        self._accepting.cancel()
        with suppress(asyncio.CancelledError):
            await self._accepting
        self._listener.close()
        giving_up = asyncio.get_running_loop().call_later(_LAST_BODIES, self._give_up)
        await super().shutdown()
        giving_up.cancel()

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(self._listener)
            except OSError:
                await asyncio.sleep(_PAUSE)
                continue
            self._is_connecting = True
            try:
                await self._connect(loop, connection)
            finally:
                self._is_connecting = False

    async def _connect(self, loop: asyncio.AbstractEventLoop, connection: socket.socket) -> None:
        bound = self._connections.make_room(connection.fileno())
        if not self._connections.can_keep(connection.fileno(), bound):
            connection.close()
            return
        try:
            await loop.connect_accepted_socket(lambda: self._protocol(bound), connection)
        except OSError:
            connection.close()

    def _protocol(self, bound: str | None) -> asyncio.Protocol:
        make: Any = self.config.http_protocol_class
        made: Any = make(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)
        made.bound = bound
        protocol: asyncio.Protocol = made
        return protocol

    def _give_up(self) -> None:
        for connection in tuple(self.server_state.connections):
            connection.give_up()  # type: ignore[union-attr]  # of `with_limits`
