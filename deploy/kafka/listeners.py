"""Listeners of a broker: how clients encrypt and authenticate."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_SECURITY = "org.apache.kafka.common.security"
_UNSECURED = f"{_SECURITY}.oauthbearer.internals.unsecured"


@dataclass(frozen=True)
class Listener:
    """One port.

    name : letters and digits.
    protocol : PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL.
    settings : its server properties, without the prefix `listener.name.<name>.`.
    """

    name: str
    protocol: str = "PLAINTEXT"
    settings: Mapping[str, str] = field(default_factory=dict)

    def properties(self) -> dict[str, str]:
        """Its lines of server.properties."""
        return {f"listener.name.{self.name.lower()}.{key}": value for key, value in self.settings.items()}


PLAINTEXT = Listener("PLAINTEXT")


def sasl(users: Mapping[str, str]) -> dict[str, str]:
    """Settings that accept PLAIN from `users` (name: password), SCRAM, and OAUTHBEARER with tokens nobody signed.

    SCRAM's users are the broker's: it keeps them in its metadata.
    """
    known = " ".join(f'user_{name}="{password}"' for name, password in users.items())
    return {
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
        "plain.sasl.jaas.config": f"{_SECURITY}.plain.PlainLoginModule required {known};",
        "scram-sha-256.sasl.jaas.config": f"{_SECURITY}.scram.ScramLoginModule required;",
        "scram-sha-512.sasl.jaas.config": f"{_SECURITY}.scram.ScramLoginModule required;",
        "oauthbearer.sasl.jaas.config": f"{_SECURITY}.oauthbearer.OAuthBearerLoginModule required;",
        "oauthbearer.sasl.login.callback.handler.class": f"{_UNSECURED}.OAuthBearerUnsecuredLoginCallbackHandler",
        "oauthbearer.sasl.server.callback.handler.class": f"{_UNSECURED}.OAuthBearerUnsecuredValidatorCallbackHandler",
    }


def tls(identity: Path, clients: Path | None = None) -> dict[str, str]:
    """Settings that encrypt.

    identity : a PEM file with the broker's private key (PKCS #8) and certificate.
    clients : a PEM file with the authority whose certificates clients must show; None asks them for none.
    """
    settings = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(identity)}
    if clients is None:
        return settings
    trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(clients)}
    return settings | trust | {"ssl.client.auth": "required"}
