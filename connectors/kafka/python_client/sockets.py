"""kafka-python forgets the socket of an attempt to connect that failed: it stays open until garbage is collected."""

from typing import Any

from kafka.net.inet import KafkaNetSocket

_connect = KafkaNetSocket.sock_connect


async def _connect_or_close(self: KafkaNetSocket, net: Any, sock: Any, *arguments: Any, **named: Any) -> Any:
    try:
        return await _connect(self, net, sock, *arguments, **named)
    except BaseException:
        sock.close()
        raise


def close_what_fails() -> None:
    """From now on, for all clients of kafka-python in this process."""
    KafkaNetSocket.sock_connect = _connect_or_close
