"""Bound sockets, from addresses that users give."""

import errno
import ipaddress
import os
import re
import socket
from typing import NamedTuple

from streamlin.errors import ConfigError

_BACKLOG = 2048
"""Connections that wait to be accepted; beyond it the system lets clients try again after a second."""


class Listener(NamedTuple):
    """A socket that listens.

    host : as the user gave it, or 127.0.0.1.
    address, port : where the socket is bound; the port is the real one even if 0 was asked for.
    """

    socket: socket.socket
    host: str
    address: str
    port: int

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return ipaddress.ip_address(self.address).is_loopback

    @property
    def url(self) -> str:
        """The URL for a browser on this machine."""
        host = "localhost" if ipaddress.ip_address(self.address).is_unspecified else self.address
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"


def listen(option: str, text: str) -> Listener:
    """Listen on `[HOST:]PORT`; without a host only this machine can connect.

    option : names the setting in messages.

    Raises
    ------
    ConfigError : the text is not an address, or nothing can listen there.
    """
    host, port = _host_and_port(option, text)
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{option} {text}: {host} is not an address of this machine: {reason}") from None
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(_BACKLOG)
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            raise ConfigError(f"{option} {text}: port {port} is in use; give another one") from None
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise ConfigError(f"{option} {text}: can't listen there: {reason}") from None
    return Listener(bound, host, *bound.getsockname()[:2])


def _host_and_port(option: str, text: str) -> tuple[str, int]:
    found = re.fullmatch(r"(?:(?P<host>[^:\[\]]+|\[[^\[\]]+\]):)?(?P<port>\d{1,5})", text, re.ASCII)
    if found is None or int(found["port"]) > 65535:
        raise ConfigError(f"{option} {text:.100}: needs [HOST:]PORT, as 8080 or 0.0.0.0:8080")
    return (found["host"] or "127.0.0.1").strip("[]"), int(found["port"])
