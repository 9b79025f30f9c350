"""The table `[serve]`."""

from typing import Annotated, Self

from pydantic import Field, PositiveFloat, SecretStr, model_validator

from streamlin.config.base import Count, Names, Strict, read_secret
from streamlin.errors import ConfigError


class ServeConfig(Strict):
    """The token of a service; the limits of a service, the page and the metrics' port.

    token : the token that clients need, from the environment only, or else the first line of token_file; both None:
        they need none.
    hosts : further host names that requests may be sent to.
    max_connections : open connections. max_pages : those that show the page.
    reserved_files : of the files that the process may have open, how many connections leave for other uses.
    idle_seconds : until the headers of a request are complete, and without a byte of the answer being taken.
    body_seconds : until the body of a request is complete.
    max_header_bytes, max_body_bytes, max_batch : bytes, and events, of one request.
    max_tokens : of the sentences of one request; a text counts its characters, as it may be cut into so many tokens.
    max_answer_bytes : of the answer to one request.
    max_in_flight, max_in_flight_bytes : requests at a time, from their headers on, and bytes of their bodies.
    max_waiting : events that are accepted and not learned yet.
    pass_over : leave out accepted events that the limits of `pipeline` no longer allow; otherwise the service ends.
    """

    token: Annotated[SecretStr, Field(min_length=1)] | None = None
    token_file: str | None = None
    hosts: Names = ()
    max_connections: Count = 4000
    max_pages: Count = 100
    reserved_files: Annotated[Count, Field(ge=16)] = 128
    idle_seconds: PositiveFloat = 10.0
    body_seconds: PositiveFloat = 30.0
    max_header_bytes: Annotated[Count, Field(ge=1024)] = 65_536
    max_body_bytes: Count = 4_000_000
    max_batch: Count = 1000
    max_tokens: Count = 100_000
    max_answer_bytes: Count = 64_000_000
    max_in_flight: Count = 256
    max_in_flight_bytes: Count = 256_000_000
    max_waiting: Count = 10_000
    pass_over: bool = False

    @model_validator(mode="after")
    def _one_request_fits(self) -> Self:
        for most, one in (("max_waiting", "max_batch"), ("max_in_flight_bytes", "max_body_bytes")):
            if getattr(self, most) < getattr(self, one):
                found = f"at least serve.{one} = {getattr(self, one)}, got {getattr(self, most)}"
                raise ValueError(f"serve.{most}: {found}")
        return self

    def needed_token(self) -> str | None:
        """The token that clients need; None: they need none.

        Raises
        ------
        ConfigError : the token's file can't be read, or an HTTP header can't hold the token.
        """
        token = self.token.get_secret_value() if self.token else read_secret("serve.token_file", self.token_file)
        if token is not None and not (token.isascii() and token.isprintable() and " " not in token):
            raise ConfigError("serve.token: needs visible ASCII characters without blanks, got others")
        return token
