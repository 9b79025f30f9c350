"""Ports that a run listens on, for people and for what watches it."""

import errno
import ipaddress
import os
import re
import socket
from typing import NamedTuple

from streamlin.errors import ConfigError

_BACKLOG = 128


class Listener(NamedTuple):
    """A bound socket.

    host : as given, or 127.0.0.1. address, port : what it is bound to; a real port also where 0 was asked for.
    """

    socket: socket.socket
    host: str
    address: str
    port: int

    @property
    def is_local(self) -> bool:
        """Whether this machine alone reaches it."""
        return ipaddress.ip_address(self.address).is_loopback

    @property
    def url(self) -> str:
        """Where a person on this machine finds it."""
        host = "localhost" if ipaddress.ip_address(self.address).is_unspecified else self.address
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"


def listen(option: str, text: str) -> Listener:
    """Bind what a person gave as `[HOST:]PORT`; without a host only this machine reaches it.

    Raises
    ------
    ConfigError : it is none, or can't be had; `option` is named.
    """
    host, port = _host_and_port(option, text)
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{option} {text}: {host} is no address of this machine: {reason}") from None
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


def is_meant(header: str | None, listener: Listener) -> bool:
    """Whether a request's `Host` names this machine: an address, `localhost`, its own name, or the host that was given.

    A page elsewhere can have a name of its own lead here (DNS rebinding) and would then be let at what is shown; a
    browser tells that name in `Host`.
    """
    host = _host_of(header or "")
    if host in ("localhost", listener.host.lower()):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return not listener.is_local and host in (socket.gethostname().lower(), socket.getfqdn().lower())
    return address.is_loopback or not listener.is_local


def _host_and_port(option: str, text: str) -> tuple[str, int]:
    found = re.fullmatch(r"(?:(?P<host>[^:\[\]]+|\[[^\[\]]+\]):)?(?P<port>\d{1,5})", text, re.ASCII)
    if found is None or int(found["port"]) > 65535:
        raise ConfigError(f"{option} {text:.100}: needs [HOST:]PORT, as 8080 or 0.0.0.0:8080")
    return (found["host"] or "127.0.0.1").strip("[]"), int(found["port"])


def _host_of(header: str) -> str:
    """`Host` without its port, in lower case; an IPv6 address without its brackets."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()
