"""The table `[kafka]`."""

from typing import Any, Literal, Self

from pydantic import PositiveFloat, SecretStr, model_validator

from streamlin.config.base import Strict, read_secret


class KafkaConfig(Strict):
    """How sources and sinks reach Kafka's brokers. Secrets come from the environment or from files.

    security_protocol, sasl_mechanism : as Kafka calls them.
    sasl_username : for PLAIN and SCRAM. sasl_password : from the environment only; otherwise use sasl_password_file.
    sasl_token_provider : for OAUTHBEARER; an entry point of the group `streamlin.kafka_tokens`: a function without
        arguments that returns a token and its expiry (Unix seconds).
    ssl_ca_file : trusted certificates, PEM; None: those that the system trusts. ssl_verify : false accepts any.
    ssl_certificate_file, ssl_key_file : the client's own, PEM. ssl_key_password : as sasl_password.
    connect_timeout : seconds to wait for the first answer of a broker, and for a topic that does not exist yet.
    give_up_after : seconds without an answer after which a run ends.
    """

    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] | None = None
    sasl_username: str | None = None
    sasl_password: SecretStr | None = None
    sasl_password_file: str | None = None
    sasl_token_provider: str | None = None
    ssl_ca_file: str | None = None
    ssl_verify: bool = True
    ssl_certificate_file: str | None = None
    ssl_key_file: str | None = None
    ssl_key_password: SecretStr | None = None
    ssl_key_password_file: str | None = None
    connect_timeout: PositiveFloat = 30.0
    give_up_after: PositiveFloat = 300.0

    @model_validator(mode="after")
    def _complete(self) -> Self:
        sasl = self.security_protocol.startswith("SASL_")
        if sasl and self.sasl_mechanism is None:
            raise ValueError(f"kafka.sasl_mechanism: {self.security_protocol} needs one, SCRAM-SHA-512 for example")
        if self.sasl_mechanism is not None and not sasl:
            raise ValueError(
                f"kafka.security_protocol: {self.sasl_mechanism} needs SASL_SSL or SASL_PLAINTEXT, "
                f"got {self.security_protocol}"
            )
        if self.sasl_mechanism == "OAUTHBEARER":
            if self.sasl_token_provider is None:
                raise ValueError("kafka.sasl_token_provider: OAUTHBEARER needs the name of one")
        elif self.sasl_mechanism is not None:
            if self.sasl_username is None:
                raise ValueError(f"kafka.sasl_username: {self.sasl_mechanism} needs one")
            if not self.sasl_password and self.sasl_password_file is None:
                raise ValueError(
                    f"kafka.sasl_password_file: {self.sasl_mechanism} needs it, or a password in "
                    "STREAMLIN_KAFKA__SASL_PASSWORD"
                )
        return self

    def settings(self) -> dict[str, Any]:
        """The keys as a connector gets them, secrets as plain strings.

        Raises
        ------
        ConfigError : the file of a secret cannot be read.
        """
        values: dict[str, Any] = self.model_dump(exclude={"sasl_password", "ssl_key_password"})
        for name, given in (("sasl_password", self.sasl_password), ("ssl_key_password", self.ssl_key_password)):
            path = values.pop(f"{name}_file")
            values[name] = given.get_secret_value() if given else read_secret(f"kafka.{name}_file", path)
        return values
