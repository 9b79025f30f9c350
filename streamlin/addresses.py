"""SOURCE and sink names: a path, `-`, or a URL."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from streamlin.errors import ConfigError

_URL = re.compile(r"[a-z][a-z0-9+.-]+:(//|$)", re.ASCII)
_QUERY = re.compile(r"\?(?=[\w.]+=[^?]*$)")


@dataclass(frozen=True)
class Address:
    """A scheme (`file`, `stdin`, …), the address that its connector understands, and the options of its query."""

    scheme: str
    address: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The same for the same place, whatever the options and the working folder."""
        address = str(Path(self.address).resolve()) if self.scheme == "file" else self.address
        return f"{self.scheme}:{address}"


def parse_address(text: str, dash: str) -> Address:
    """What a person wrote; `dash` is the scheme that `-` stands for.

    A path that exists is taken as it is; else `?key=value` at its end is a query.

    Raises
    ------
    ConfigError : an option twice, an option without a name.
    """
    if text == "-":
        return Address(dash, "-")
    if text.startswith("-?"):
        return Address(dash, "-", _options(text[2:], text))
    if _URL.match(text):
        return _parse_url(text)
    if not text:
        raise ConfigError("an empty path; give a path, '-' or a URL")
    parts = [text] if Path(text).exists() else _QUERY.split(text, maxsplit=1)
    return Address("file", parts[0], _options(parts[1], text) if len(parts) > 1 else {})


def _parse_url(text: str) -> Address:
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise ConfigError(f"'{text}' is no URL: {error}") from None
    options = _options(parts.query, text)
    if parts.scheme == "file":
        if parts.netloc not in ("", "localhost"):
            raise ConfigError(f"'{text}' names the host '{parts.netloc}'; a file URL has three slashes: file:///path")
        return Address("file", unquote(parts.path), options)
    return Address(parts.scheme, f"{parts.netloc}{unquote(parts.path)}", options)


def _options(query: str, text: str) -> dict[str, str]:
    options: dict[str, str] = {}
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise ConfigError(f"'{text}' has options that are not key=value&key=value") from None
    for key, value in pairs:
        if key in options:
            raise ConfigError(f"'{text}' has the option '{key}' twice")
        options[key] = value
    return options
