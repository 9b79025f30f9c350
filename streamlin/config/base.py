"""What all tables share: the strict model, types of values, and secrets that are kept in files."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from streamlin.errors import ConfigError


class Strict(BaseModel):
    """A frozen model that refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


def listed(value: Any) -> Any:
    """A single text as a list of one; any other value unchanged."""
    return [value] if isinstance(value, str) else value


Count = Annotated[int, Field(strict=True, ge=1)]
"""A whole number, at least 1; `true` is not accepted as a number."""

Names = Annotated[tuple[str, ...], BeforeValidator(listed)]
"""One name, or a list of them."""


def read_secret(key: str, path: str | None) -> str | None:
    """The first line of a file; None if the path is None.

    key : the configuration key that names the file.

    Raises
    ------
    ConfigError : the file can't be read, or its first line is empty.
    """
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            line = file.readline().rstrip("\r\n")
    except OSError as error:
        raise ConfigError(f"{key}: {path} can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{key}: {path} is not UTF-8") from None
    if not line:
        raise ConfigError(f"{key}: {path} has nothing in its first line")
    return line
