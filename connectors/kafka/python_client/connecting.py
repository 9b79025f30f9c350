"""Connections of kafka-python that tell why a broker lets nobody in.

kafka-python means to tell, but drops what a broker says just before it hangs up, tries again where that can't help, and
leaves sockets open where it fails.
"""

import ssl
from contextlib import suppress
from typing import Any

import kafka.errors as errors
from kafka.net.compat import KafkaNetClient
from kafka.net.inet import create_connection
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.net.transport import KafkaSSLTransport, KafkaTCPTransport

_PASSING = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class TlsError(errors.AuthorizationError):  # type: ignore[misc]  # kafka-python has no types
    """One side does not take the other for who it says it is."""


_REFUSALS = (
    TlsError,
    errors.IllegalSaslStateError,
    errors.SaslAuthenticationFailedError,
    errors.UnsupportedSaslMechanismError,
)


class Client(KafkaNetClient):  # type: ignore[misc]
    """For the argument `kafka_client` of consumers and producers."""

    def __init__(self, **config: Any) -> None:
        net = NetworkSelector(**config)
        super().__init__(net=net, manager=_Connections(net, **config), **config)

    def await_ready(self, node_id: Any, timeout_ms: float = 30000) -> bool:
        """Whether a connection is there. kafka-python raises it where there is none, and then its sender forgets the
        request of a transaction that was to be sent: a commit would wait for ever. After a no it is tried again."""
        with suppress(errors.KafkaConnectionError):
            return bool(super().await_ready(node_id, timeout_ms))
        return False


class _Connections(KafkaConnectionManager):  # type: ignore[misc]
    async def _build_transport(self, node: Any, timeout_at: float | None = None) -> Any:
        config = self.config
        more = {"proxy_url": config["proxy_url"], "timeout_at": timeout_at}
        sock = await create_connection(self._net, node.host, node.port, config["socket_options"], **more)
        kind = _Encrypted if self.ssl_enabled else _Plain
        transport = kind(self._net, sock, host=node.host, **{k: v for k, v in config.items() if k.startswith("ssl_")})
        try:
            await transport.handshake()
        except BaseException as error:
            transport.abort()
            raise _meaning(error) from None
        return transport

    async def _connect(self, node: Any, conn: Any, **how: Any) -> None:
        await super()._connect(node, conn, **how)
        refusal = conn.init_future.exception
        if isinstance(refusal, _REFUSALS):
            self._auth_failures[node.node_id] = refusal  # raised wherever this broker is needed


class _Plain(KafkaTCPTransport):  # type: ignore[misc]
    def __init__(self, net: Any, sock: Any, host: str, **_: Any) -> None:
        super().__init__(net, sock, host=host)

    def _sock_recv(self) -> tuple[bytes, Any]:
        return _last_words(*super()._sock_recv())


class _Encrypted(KafkaSSLTransport):  # type: ignore[misc]
    def _sock_recv(self) -> tuple[bytes, Any]:
        return _last_words(*super()._sock_recv())


def _last_words(data: bytes, error: Any) -> tuple[bytes, Any]:
    """What came, or else what is wrong: that is met again when the next is waited for."""
    if data or error is None:
        return data, None
    return data, _meaning(error.args[0]) if isinstance(error.args[0], ssl.SSLError) else error


def _meaning(error: BaseException) -> BaseException:
    """What went wrong with TLS as an error of kafka-python's."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return TlsError(f"TLS: the broker's certificate is not to be trusted: {error.verify_message}")
    if isinstance(error, ssl.SSLError) and not isinstance(error, _PASSING):
        return TlsError(f"TLS: {str(error.reason or error).lower().replace('_', ' ')}")
    return errors.KafkaConnectionError(f"Handshake failed: {error}") if isinstance(error, OSError) else error
