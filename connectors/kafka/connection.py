"""How to reach the brokers, and whether one can be reached."""

import socket
import ssl
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from connectors.kafka.contact import Contact
from connectors.kafka.errors import UnreachableError
from connectors.kafka.security import is_encrypted, ssl_context
from streamlin.errors import ConnectorError

_SECONDS = 2.0
_API_VERSIONS = b"\0\0\0\x0a\0\x12\0\0\0\0\0\0\xff\xff"
"""A request that brokers answer before authentication too: its size, key 18, version 0, number 0, no client id."""


class Connection(NamedTuple):
    """How to reach the brokers.

    settings : `[kafka]` of the configuration, secrets as plain strings.
    longest : bytes of the longest message that is accepted.
    """

    servers: tuple[str, ...]
    settings: Mapping[str, Any]
    notice: Callable[[str], None]
    longest: int = 0

    @property
    def name(self) -> str:
        """The servers, for messages."""
        return ",".join(self.servers)

    @property
    def connect_timeout(self) -> float:
        """Seconds to wait for a broker's first answer, and for a topic that does not exist."""
        return float(self.settings.get("connect_timeout", 30.0))

    @property
    def give_up_after(self) -> float:
        """Seconds without an answer after which a run ends."""
        return float(self.settings.get("give_up_after", 300.0))

    def contact(self) -> Contact:
        """Tracks whether the brokers answer. Shows a notice if certificates are not checked."""
        if not self.settings.get("ssl_verify", True):
            self.notice("kafka.ssl_verify is false: the brokers' certificates are not checked")
        return Contact(self.name, self.connect_timeout, self.give_up_after, self.notice)

    def unanswered(self) -> UnreachableError:
        """The error when a server accepts connections but does not answer: with a wrong protocol it hangs up."""
        protocol = self.settings.get("security_protocol", "PLAINTEXT")
        return UnreachableError(
            f"the brokers at {self.name} don't answer; is kafka.security_protocol = {protocol} right?"
        )

    def check(self) -> None:
        """Connect to a server, faster than the clients, and with the reason if it fails.

        Raises UnreachableError, or ConnectorError if one side does not trust the other's certificate.
        """
        reason: OSError | None = None
        for server in self.servers:
            host, _, port = server.rpartition(":")
            try:
                with socket.create_connection((host.strip("[]"), int(port)), _SECONDS) as connected:
                    if is_encrypted(self.settings):
                        self._check_trust(connected, host.strip("[]"))
                    return
            except OSError as error:
                reason = error
        raise UnreachableError(f"no broker at {', '.join(self.servers)}: {getattr(reason, 'strerror', None) or reason}")

    def _check_trust(self, connected: socket.socket, host: str) -> None:
        """Make a request: a broker that refuses the client's certificate says so only after the handshake."""
        try:
            with ssl_context(self.settings).wrap_socket(connected, server_hostname=host) as encrypted:
                encrypted.sendall(_API_VERSIONS)
                encrypted.recv(1)
        except ssl.SSLCertVerificationError as error:
            reason = f"the broker's certificate is not trusted: {error.verify_message}"
            raise ConnectorError(f"the brokers at {self.name} refuse: TLS: {reason}") from None
        except OSError as error:  # without a reason it may be temporary: the client tries again
            reason = (getattr(error, "reason", None) or "").lower().replace("_", " ")
            if "alert" in reason:
                raise ConnectorError(f"the brokers at {self.name} refuse: TLS: {reason}") from None
