"""Pydantic's findings as lines that say where the error is, what was expected, and what was found."""

from collections.abc import Iterable, Mapping
from typing import Any

from streamlin.errors import nearest, redacted

_NO_TABLE = ("model_type", "model_attributes_type", "dict_type", "union_tag_not_found")
_LONGEST = 80


def line_of(finding: Mapping[str, Any], where: str, table: str, known: Iterable[str] = (), expected: str = "") -> str:
    """One finding as a line.

    Parameters
    ----------
    finding : an item of `pydantic.ValidationError.errors()`.
    where : the place as the user knows it; empty for the whole input.
    table : the user's word for a mapping, with its article.
    known : the keys that are allowed where an unknown one was found.
    expected : said instead of pydantic's own message on a wrong value.
    """
    prefix, kind = f"{where}: " if where else "", finding["type"]
    if kind == "extra_forbidden":
        return f"{prefix}unknown key; {nearest(str(finding['loc'][-1]), known)}"
    if kind == "missing":
        return f"{prefix}a value is missing"
    message = expected or _message(finding, table)
    return f"{prefix}{message[0].lower()}{message[1:]}, got {shown(finding['input'])}"


def shown(value: Any) -> str:
    """A value as Python writes it, without the secrets of a URL, cut if it is long."""
    text = redacted(repr(value))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}…"


def _message(finding: Mapping[str, Any], table: str) -> str:
    if finding["type"] in _NO_TABLE:
        return f"expected {table}"
    if finding["type"] == "value_error":
        return str(finding["ctx"]["error"])
    message: str = finding["msg"]
    return message
