"""Brokers that tests share, each started when a test first asks for it."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from deploy.kafka.broker import Broker
from deploy.kafka.classes import keep_classes
from deploy.kafka.library import BrokerError, java, library
from deploy.kafka.listeners import Listener, sasl, tls
from tests.integration.kafka.broker import create_topic
from tests.integration.kafka.certificates import Certified, authority, signed
from tests.integration.kafka.clients import CLIENTS
from tests.required import missing

_NUMBERS = itertools.count()
_STAYS = {"broker.session.timeout.ms": "60000"}
"""Of a broker that no test kills: on a busy machine its heartbeats come late, and it would be shut out."""


class Topics(Protocol):
    """Makes a new topic and returns its name."""

    def __call__(self, partitions: int = 1, config: dict[str, str] | None = None) -> str: ...


class Secure(NamedTuple):
    """A broker with listeners PLAINTEXT, SASL_PLAINTEXT, SSL, MUTUAL_SSL and SASL_SSL, and what opens them.

    SASL takes PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 (all for `user`, `password`) and OAUTHBEARER (unsigned tokens).
    MUTUAL_SSL wants a certificate of `authority`, such as `client`; `stranger` was signed by someone else.
    """

    broker: Broker
    authority: Path
    client: Certified
    stranger: Certified
    user: str = "alice"
    password: str = "in wonderland"


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest) -> str:
    """Each of the two client libraries."""
    return str(request.param)


@pytest.fixture(scope="session")
def kafka_library() -> Path:
    """The jars of Apache Kafka, and the archive of the classes that a broker loads."""
    try:
        java()
        folder = library()
        keep_classes()
        return folder
    except BrokerError as error:
        missing(str(error))


@pytest.fixture(scope="package")
def broker(kafka_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A plain broker for all tests; don't stop it."""
    settings = {"group.min.session.timeout.ms": "1000", "log.retention.ms": "-1"}  # some messages are of long ago
    broker = Broker(tmp_path_factory.mktemp("kafka"), settings=_STAYS | settings)
    try:
        broker.start()
        yield broker
    finally:
        broker.stop()


@pytest.fixture
def topic(broker: Broker, request: pytest.FixtureRequest) -> Topics:
    """Makes topics of `broker`."""

    def make(partitions: int = 1, config: dict[str, str] | None = None) -> str:
        name = re.sub(r"[^\w.-]", "-", f"{request.node.name}-{next(_NUMBERS)}", flags=re.ASCII)
        create_topic(broker.address, name, partitions, config)
        return name

    return make


@pytest.fixture(scope="package")
def secure_broker(kafka_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    """A broker that asks for passwords, tokens and certificates; don't stop it."""
    folder = tmp_path_factory.mktemp("secure-kafka")
    ours = authority(folder, "authority")
    client, stranger = signed(ours, folder, "client"), signed(authority(folder, "nobody"), folder, "stranger")
    users = {Secure._field_defaults["user"]: Secure._field_defaults["password"]}
    encrypted = tls(signed(ours, folder, "broker").identity)
    mutual = tls(folder / "broker.pem", clients=ours.certificate)
    listeners = [
        Listener("SASL_PLAINTEXT", "SASL_PLAINTEXT", sasl(users)),
        Listener("SSL", "SSL", encrypted),
        Listener("MUTUAL_SSL", "SSL", mutual),
        Listener("SASL_SSL", "SASL_SSL", encrypted | sasl(users)),
    ]
    broker = Broker(folder / "broker", listeners, _STAYS, users)
    try:
        broker.start()
        yield Secure(broker, ours.certificate, client, stranger)
    finally:
        broker.stop()
