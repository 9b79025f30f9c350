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

_WAITING = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class _Closing:
    """A socket that closes itself when it is dropped, as kafka-python does with the sockets of attempts that fail.

    What a broker sends just before it hangs up is given alone, and the end at the next call: kafka-python drops what
    it gets together with the end, such as the reason.
    """

    _has_given = False

    def recv(self, *arguments: Any) -> bytes:
        has_given, self._has_given = self._has_given, False
        try:
            data: bytes = super().recv(*arguments)  # type: ignore[misc]
        except _WAITING:
            raise
        except OSError as error:
            if has_given:
                raise BlockingIOError from error
            raise
        if has_given and not data:
            raise BlockingIOError
        self._has_given = bool(data)
        return data

    def __del__(self) -> None:
        self.close()  # type: ignore[attr-defined]


class _PlainSocket(_Closing, socket.socket):
    pass


class _TlsSocket(_Closing, ssl.SSLSocket):
    pass


class _Sockets(KafkaNetSocket):  # type: ignore[misc]  # kafka-python has no types
    """Makes such sockets; kafka-python finds this class by the scheme of `proxy_url`."""

    SCHEMES = ("streamlin",)

    def socket(self, *arguments: Any) -> socket.socket:
        return _PlainSocket(*arguments)


_REFUSALS = (
    errors.AuthorizationError,
    errors.IllegalSaslStateError,
    errors.SaslAuthenticationFailedError,
    errors.UnsupportedSaslMechanismError,
)


class Client(KafkaNetClient):  # type: ignore[misc]  # kafka-python has no types
    """For the argument `kafka_client` of consumers, producers and admin clients."""

    def __init__(self, **config: Any) -> None:
        config["proxy_url"] = config.get("proxy_url") or "streamlin://"
        if config.get("ssl_context") is not None:
            config["ssl_context"].sslsocket_class = _TlsSocket
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
        if isinstance(error, _REFUSALS):
            self.refusal = error
