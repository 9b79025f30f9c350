"""Connections of kafka-python that report why a broker refuses them.

kafka-python gives up on a broker for good only if authentication fails in one of its ways; otherwise it forgets the
reason and tries again until a timeout. Its argument `kafka_client` takes our class, whose overridden methods are all
public.
"""

import socket
import ssl
from contextlib import suppress
from typing import Any

import kafka.errors as errors
from kafka.net.compat import KafkaNetClient
from kafka.net.inet import KafkaNetSocket
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector

_PASSING = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class _Closing(socket.socket):
    """Closes itself when it is dropped, as kafka-python does with the sockets of attempts that fail."""

    def __del__(self) -> None:
        self.close()


class _ClosingTls(ssl.SSLSocket):
    """The same for TLS."""

    def __del__(self) -> None:
        self.close()


class _Sockets(KafkaNetSocket):  # type: ignore[misc]  # kafka-python has no types
    """Makes such sockets; kafka-python finds this class by the scheme of `proxy_url`."""

    SCHEMES = ("streamlin",)

    def socket(self, *arguments: Any) -> socket.socket:
        return _Closing(*arguments)


class TlsError(errors.AuthorizationError):  # type: ignore[misc]
    """One side does not trust the other's certificate."""


_REFUSALS = (
    errors.AuthorizationError,
    errors.IllegalSaslStateError,
    errors.SaslAuthenticationFailedError,
    errors.UnsupportedSaslMechanismError,
)


class Client(KafkaNetClient):  # type: ignore[misc]
    """For the argument `kafka_client` of consumers, producers and admin clients."""

    def __init__(self, **config: Any) -> None:
        config["proxy_url"] = config.get("proxy_url") or "streamlin://"
        if config.get("ssl_context") is not None:
            config["ssl_context"].sslsocket_class = _ClosingTls
        net = NetworkSelector(**config)
        super().__init__(net=net, manager=_Connections(net, **config), **config)
        # kafka-python does not pass this option of its consumer on: reading would create a deleted topic again.
        self.cluster.config["allow_auto_create_topics"] = config.get("allow_auto_create_topics", True)

    def await_ready(self, node_id: Any, timeout_ms: float = 30000) -> bool:
        """Whether a connection is there; no error if not, upon which the sender forgets a transaction's request."""
        with suppress(errors.KafkaConnectionError):
            return bool(super().await_ready(node_id, timeout_ms))
        return False


class _Connections(KafkaConnectionManager):  # type: ignore[misc]
    """Refuses to connect again after a refusal that time does not mend."""

    refusal: BaseException | None = None

    def get_connection(self, node_id: Any, *arguments: Any, **how: Any) -> Any:
        if self.refusal is not None:
            raise self.refusal
        connection = super().get_connection(node_id, *arguments, **how)
        if not connection.init_future.is_done:
            connection.init_future.add_errback(self._note)
        return connection

    def _note(self, error: BaseException) -> None:
        """Called when a connection fails before it can be used."""
        meaning = _meaning(error)
        if isinstance(meaning, _REFUSALS):
            self.refusal = meaning


def _meaning(error: BaseException) -> BaseException:
    """The cause of a failed connection: a TlsError if a handshake, or what follows it, failed for good."""
    causes = [error.__context__, *error.args]
    cause = next((one for one in causes if isinstance(one, ssl.SSLError) and not isinstance(one, _PASSING)), None)
    if cause is None:
        return error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return TlsError(f"TLS: the broker's certificate is not trusted: {cause.verify_message}")
    return TlsError(f"TLS: {str(cause.reason or cause).lower().replace('_', ' ')}")
