"""What all tables lean on: the strict model, kinds of values, and secrets that are kept in files."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from streamlin.errors import ConfigError


class Strict(BaseModel):
    """Unknown keys are errors, and nothing changes once it is made."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def listed(value: Any) -> Any:
    """One text as a list of it."""
    return [value] if isinstance(value, str) else value


Count = Annotated[int, Field(strict=True, ge=1)]
"""A whole number from 1 on; `true` is none."""

Names = Annotated[tuple[str, ...], BeforeValidator(listed)]
"""One name, or a list of them."""


def read_secret(key: str, path: str | None) -> str | None:
    """The first line of a file; None where there is no path.

    key : of the configuration, that named the file.

    Raises
    ------
    ConfigError : it can't be read, or has nothing in that line.
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
