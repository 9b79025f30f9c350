"""Both client libraries, with the credentials of a listener: each reads one topic."""

import base64
import gc
import json
import logging
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from tests.integration.kafka.certificates import Certified

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "(open|read)_text is deprecated", DeprecationWarning)  # by kafka-python itself
    import kafka
    from kafka.net.sasl.oauth import AbstractTokenProvider

Done = Callable[[list[bytes]], bool]
"""Whether the values read so far are enough."""


class Shown(NamedTuple):
    """The credentials of a client; `mechanism` is empty for a listener without SASL."""

    listener: str
    mechanism: str = ""
    user: str = ""
    password: str = ""
    token: str = ""
    authority: Path | None = None
    certificate: Certified | None = None

    @property
    def protocol(self) -> str:
        """Of the listener."""
        return self.listener.removeprefix("MUTUAL_")


def token(user: str, expires: float) -> str:
    """An unsigned token."""
    parts: list[dict[str, Any]] = [{"alg": "none"}, {"sub": user, "iat": int(time.time()), "exp": int(expires)}]
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
    return ".".join([*encoded, ""])


class Token(AbstractTokenProvider):  # type: ignore[misc]
    """As kafka-python requires it."""

    def __init__(self, token: str) -> None:
        self._token = token

    def token(self) -> str:
        return self._token


def by_kafka_python(address: str, topic: str, shown: Shown, done: Done) -> list[bytes]:
    """The values in partition 0 that kafka-python reads until `done`."""
    with _handshakes_left_open():
        return _by_kafka_python(address, topic, shown, done)


def _by_kafka_python(address: str, topic: str, shown: Shown, done: Done) -> list[bytes]:
    consumer = kafka.KafkaConsumer(
        bootstrap_servers=address,
        api_version=(4, 1),  # or it would not let go of a broker that refuses it
        security_protocol=shown.protocol,
        sasl_mechanism=shown.mechanism or None,
        sasl_plain_username=shown.user,
        sasl_plain_password=shown.password,
        sasl_oauth_token_provider=Token(shown.token) if shown.token else None,
        ssl_cafile=shown.authority and str(shown.authority),
        ssl_certfile=shown.certificate and str(shown.certificate.certificate),
        ssl_keyfile=shown.certificate and str(shown.certificate.key),
        auto_offset_reset="earliest",
    )
    values: list[bytes] = []
    with closing(consumer):
        consumer.assign([kafka.TopicPartition(topic, 0)])
        while not done(values):
            values += [record.value for records in consumer.poll(50).values() for record in records]
    return values


@contextmanager
def _handshakes_left_open() -> Iterator[None]:
    """kafka-python does not close the socket of a TLS handshake that failed; nothing may refer to it at the end.

    Records of its log, which pytest keeps, would.
    """
    logging.disable()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "unclosed <ssl.SSLSocket", ResourceWarning)
            yield
            gc.collect()
    finally:
        logging.disable(logging.NOTSET)


def by_confluent_kafka(address: str, topic: str, shown: Shown, done: Done) -> list[bytes]:
    """The values in partition 0 that confluent-kafka reads until `done`."""
    settings: dict[str, Any] = {
        "bootstrap.servers": address,
        "security.protocol": shown.protocol,
        "group.id": "unused",
        "log_level": 0,
    }
    if shown.token:
        settings |= {"oauth_cb": lambda _: (shown.token, time.time() + 600)}
    if shown.mechanism:
        settings |= {"sasl.mechanisms": shown.mechanism}
        settings |= {"sasl.username": shown.user, "sasl.password": shown.password} if shown.user else {}
    if shown.authority:
        settings |= {"ssl.ca.location": str(shown.authority)}
    if shown.certificate:
        settings |= {"ssl.certificate.location": str(shown.certificate.certificate)}
        settings |= {"ssl.key.location": str(shown.certificate.key)}
    values: list[bytes] = []
    with closing(Consumer(settings)) as consumer:
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        while not done(values):
            values += [message.value() for message in consumer.consume(1, 0.05) if message.error() is None]
    return values
