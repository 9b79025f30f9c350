"""Each listener of a broker accepts the right client and refuses a wrong one, with both libraries."""

import time
from collections.abc import Callable

import pytest

from tests.integration.kafka.broker import PATIENCE, create_topic, produce
from tests.integration.kafka.conftest import Secure
from tests.integration.kafka.readers import Shown, by_confluent_kafka, by_kafka_python, token

TOPIC = "behind-the-door"
REFUSED = "Failed authentication"


Pair = tuple[Shown, Shown]
"""The credentials of the right client and of a wrong one."""


def name(mechanism: str, listener: str = "SASL_PLAINTEXT") -> Callable[[Secure], Pair]:
    """The right and a wrong password, or token."""

    def pair(secure: Secure) -> Pair:
        shown = Shown(listener, mechanism, authority=secure.authority if listener == "SASL_SSL" else None)
        if mechanism == "OAUTHBEARER":
            now = time.time()
            return tuple(shown._replace(token=token(secure.user, now + age)) for age in (600, -600))
        return tuple(shown._replace(user=secure.user, password=given) for given in (secure.password, "queen"))

    return pair


def authorities(secure: Secure) -> Pair:
    right = Shown("SSL", authority=secure.authority)
    return right, right._replace(authority=secure.stranger.certificate)


def no_certificate(secure: Secure) -> Pair:
    right = Shown("MUTUAL_SSL", authority=secure.authority, certificate=secure.client)
    return right, right._replace(certificate=None)


def certificates(secure: Secure) -> Pair:
    right, _ = no_certificate(secure)
    return right, right._replace(certificate=secure.stranger)


DOORS = {
    "plain": name("PLAIN"),
    "scram-256": name("SCRAM-SHA-256"),
    "scram-512": name("SCRAM-SHA-512"),
    "token": name("OAUTHBEARER"),
    "scram-tls": name("SCRAM-SHA-512", "SASL_SSL"),
    "authority": authorities,
    "no-certificate": no_certificate,
    "stranger": certificates,
}


@pytest.fixture(scope="module")
def filled(secure_broker: Secure) -> Secure:
    """The broker, with one record in TOPIC."""
    create_topic(secure_broker.broker.address, TOPIC)
    produce(secure_broker.broker.address, TOPIC, [(None, b"inside")])
    return secure_broker


@pytest.mark.parametrize("client", [by_kafka_python, by_confluent_kafka])
@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_listeners_refuse_wrong_credentials(
    door: Callable[[Secure], Pair], client: Callable[..., list[bytes]], filled: Secure
) -> None:
    """The right client reads the record; the broker logs that it has refused the other."""
    right, wrong = door(filled)
    broker, deadline = filled.broker, time.monotonic() + PATIENCE
    assert right.listener == wrong.listener

    def patient() -> bool:
        return time.monotonic() < deadline

    address, before = broker.address_of(right.listener), broker.log.read_text()
    assert client(address, TOPIC, right, lambda values: bool(values) or not patient()) == [b"inside"]
    assert REFUSED not in broker.log.read_text().removeprefix(before)

    def refused(_: list[bytes]) -> bool:
        return REFUSED in broker.log.read_text().removeprefix(before) or not patient()

    assert client(address, TOPIC, wrong, refused) == []
    assert REFUSED in broker.log.read_text().removeprefix(before)
