"""The table `[serve]`."""

from typing import Annotated, Self

from pydantic import Field, SecretStr, model_validator

from streamlin.config.base import Count, Strict, read_secret
from streamlin.errors import ConfigError


class ServeConfig(Strict):
    """The token and the limits of a service.

    token : the token that clients need, from the environment only, or else the first line of token_file; both None:
        they need none.
    max_body_bytes, max_batch : bytes, and events, of one request.
    max_in_flight : requests that are processed at a time.
    max_waiting : events that are accepted and not learned yet.
    pass_over : leave out accepted events that the limits of `pipeline` no longer allow; otherwise the service ends.
    """

    token: Annotated[SecretStr, Field(min_length=1)] | None = None
    token_file: str | None = None
    max_body_bytes: Count = 4_000_000
    max_batch: Count = 1000
    max_in_flight: Count = 256
    max_waiting: Count = 10_000
    pass_over: bool = False

    @model_validator(mode="after")
    def _batches_can_wait(self) -> Self:
        if self.max_waiting < self.max_batch:
            raise ValueError(f"serve.max_waiting: at least serve.max_batch = {self.max_batch}, got {self.max_waiting}")
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
