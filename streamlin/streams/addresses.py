"""SOURCE and sink names: a path, `-`, or a URL."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from streamlin.errors import ConfigError, redacted

_URL = re.compile(r"[a-z][a-z0-9+.-]+:(//|$)", re.ASCII)
_QUERY = re.compile(r"\?(?=[\w.]+=)")


@dataclass(frozen=True)
class Address:
    """A scheme (`file`, `stdin`, …), the address in the form that its connector expects, and the query's options."""

    scheme: str
    address: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Equal for equal places, whatever the options and the working folder."""
        address = os.path.realpath(self.address) if self.scheme == "file" else self.address
        return f"{self.scheme}:{address}"


def parse_address(text: str, dash: str) -> Address:
    """Parse a path, `-` or a URL; `dash` is the scheme that `-` stands for.

    A path that exists is used unchanged; in any other path, `?key=` begins the query.

    Raises
    ------
    ConfigError : the path is empty, an option is given twice, or an option has no name.
    """
    if text == "-":
        return Address(dash, "-")
    if text.startswith("-?"):
        return Address(dash, "-", _options(text[2:], text))
    if _URL.match(text):
        return _parse_url(text)
    path, query = _split(text)
    return _file(path, _options(query, text))


def _split(text: str) -> tuple[str, str]:
    """Path and query. A `?` may be part of either: the path is the shortest one that exists, or else the shortest."""
    cuts = [] if os.path.exists(text) else [found.start() for found in _QUERY.finditer(text)]
    if not cuts:
        return text, ""
    cut = next((cut for cut in cuts if os.path.exists(text[:cut])), cuts[0])
    return text[:cut], text[cut + 1 :]


def _file(path: str, options: Mapping[str, str]) -> Address:
    if not path:
        raise ConfigError("the path is empty: expected a path, '-' or a URL")
    if "\0" in path:
        raise ConfigError(f"the path {path!r} contains a NUL character")
    return Address("file", path, options)


def _parse_url(text: str) -> Address:
    try:
        parts = urlsplit(text, allow_fragments=False)  # a `#` is a part of a path or pattern
    except ValueError as error:
        raise ConfigError(f"invalid URL '{redacted(text)}': {error}") from None
    options = _options(parts.query, text)
    if parts.scheme == "file":
        if parts.netloc not in ("", "localhost"):
            shown = redacted(text)
            host = f"the host '{parts.netloc}'" if shown == text else "a host"  # it may be a part of a password
            raise ConfigError(f"'{shown}' names {host}: a file URL has three slashes: file:///path")
        return _file(unquote(parts.path), options)
    return Address(parts.scheme, f"{parts.netloc}{unquote(parts.path)}", options)


def _options(query: str, text: str) -> dict[str, str]:
    options: dict[str, str] = {}
    text = redacted(text)
    for pair in query.split("&") if query else ():
        key, sign, value = (unquote(part) for part in pair.partition("="))  # a plus is a plus: patterns have them
        if not key or not sign:
            raise ConfigError(f"invalid options in '{text}': expected key=value&key=value")
        if key in options:
            raise ConfigError(f"'{text}' gives the option '{key}' twice")
        options[key] = value
    return options
