"""`[kafka]` of the configuration as settings of either client."""

import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import entry_points
from typing import Any

from streamlin.errors import ConfigError, ConnectorError, nearest

TokenProvider = Callable[[], tuple[str, float]]
TOKENS = "streamlin.kafka_tokens"
_SASL = ("security_protocol", "sasl_mechanism", "sasl_username", "sasl_password")
_LIBRDKAFKA = {
    "ssl_ca_file": "ssl.ca.location",
    "ssl_certificate_file": "ssl.certificate.location",
    "ssl_key_file": "ssl.key.location",
    "ssl_key_password": "ssl.key.password",
    "ssl_verify": "enable.ssl.certificate.verification",
}


def for_kafka_python(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of KafkaConsumer and KafkaProducer. Raises ConfigError for a file that cannot be used."""
    names = {"sasl_username": "sasl_plain_username", "sasl_password": "sasl_plain_password"}
    arguments = _renamed(settings, {key: names.get(key, key) for key in _SASL})
    if is_encrypted(settings):
        arguments["ssl_context"] = ssl_context(settings)
    if (name := settings.get("sasl_token_provider")) is not None:
        from kafka.net.sasl.oauth import AbstractTokenProvider

        provider = token_provider(name)

        class Provider(AbstractTokenProvider):  # type: ignore[misc]  # kafka-python has no types
            def token(self) -> str:
                return provider()[0]

        arguments["sasl_oauth_token_provider"] = Provider()
    return arguments


def for_confluent(settings: Mapping[str, Any]) -> dict[str, Any]:
    """librdkafka's properties. Raises as `for_kafka_python`."""
    properties = _renamed(settings, {key: key.replace("_", ".") for key in _SASL})
    if is_encrypted(settings):
        ssl_context(settings)  # its messages about wrong files are better
        properties |= _renamed(settings, _LIBRDKAFKA)
    if (name := settings.get("sasl_token_provider")) is not None:
        provider = token_provider(name)
        properties["oauth_cb"] = lambda _: provider()
    return properties


def is_encrypted(settings: Mapping[str, Any]) -> bool:
    """Whether connections use TLS."""
    return str(settings.get("security_protocol", "")).endswith("SSL")


def _renamed(settings: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The settings that are given, under a client's names."""
    return {name: settings[key] for key, name in names.items() if settings.get(key) is not None}


def ssl_context(settings: Mapping[str, Any]) -> ssl.SSLContext:
    """Raises ConfigError that names the key whose file cannot be used."""
    context = _trusting("ssl_ca_file", settings.get("ssl_ca_file"))
    if not settings.get("ssl_verify", True):
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if (certificate := settings.get("ssl_certificate_file")) is not None:
        _trusting("ssl_certificate_file", certificate)  # checks that the file has a certificate
        key = "ssl_certificate_file" if settings.get("ssl_key_file") is None else "ssl_key_file"
        # A password is always given: without one OpenSSL would ask for it on the terminal.
        with _using(key, settings[key], "it does not hold the certificate's key, or kafka.ssl_key_password is wrong"):
            context.load_cert_chain(certificate, settings[key], password=settings.get("ssl_key_password") or "")
    return context


def _trusting(key: str, path: str | None) -> ssl.SSLContext:
    """Trusts the certificates in a file; None: those that the system trusts."""
    with _using(key, path, "it does not hold a certificate"):
        return ssl.create_default_context(cafile=path)


@contextmanager
def _using(key: str, path: str | None, otherwise: str) -> Iterator[None]:
    """Raise ConfigError for a file that cannot be used; `otherwise` is the reason if the system gives none."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = otherwise if isinstance(error, (ssl.SSLError, ValueError)) else error.strerror
        raise ConfigError(f"kafka.{key}: {path} can't be used: {reason}") from None


def token_provider(name: str) -> TokenProvider:
    """The function behind an entry point. Raises ConfigError, and ConnectorError if it gives no token."""
    points = {point.name: point for point in entry_points(group=TOKENS)}
    if name not in points:
        known = nearest(name, points) if points else f"the entry point group {TOKENS} is empty"
        raise ConfigError(f"kafka.sasl_token_provider: no provider '{name}'; {known}")
    try:
        provider: TokenProvider = points[name].load()
    except Exception as error:  # whatever a plugin raises
        raise ConfigError(f"kafka.sasl_token_provider: {points[name].value} can't be loaded: {error}") from None
    _token(name, provider)  # the clients would take its errors for the broker's
    return lambda: _token(name, provider)


def _token(name: str, provider: TokenProvider) -> tuple[str, float]:
    try:
        token, expires = provider()
    except Exception as error:  # whatever a plugin raises
        raise ConnectorError(f"kafka.sasl_token_provider: {name} gives no token: {error}") from None
    if not isinstance(token, str) or not isinstance(expires, (int, float)):
        raise ConnectorError(f"kafka.sasl_token_provider: {name} must return a string and the time at which it expires")
    if expires <= time.time():
        raise ConnectorError(f"kafka.sasl_token_provider: {name} gives a token that has expired")
    return token, float(expires)
