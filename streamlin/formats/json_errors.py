"""msgspec's messages about a record, rephrased for the users of an input."""

import re
from contextlib import suppress
from typing import Any

import msgspec

_PART = "a part of JSON that has several lines"
_TWICE = "a JSON object that is encoded twice, as a text"
_ARRAY = "expected a JSON object, got array"

ADVICE = {
    _PART: "write each object on one line, for instance by jq -c . (an array by jq -c '.[]')",
    _ARRAY: "write each object of the array on one line, for instance by jq -c '.[]'",
    _TWICE: "decode it once more before, for instance by jq -c fromjson",
}
"""Error -> what helps where many records have it."""

_BRACKETS = b"[]{}, \t\r"
_BEGINS_WITH_KEY = re.compile(rb'\s*"(?:[^"\\]|\\.)*"\s*:')
_WRONG_TYPE = re.compile(r"Expected `(?P<needed>.+)`, got `(?P<got>.+?)`(?: - at `\$\.?(?P<path>.*)`)?")
_MISSING = re.compile(r"Object missing required field `(?P<field>.+?)`(?: - at `\$\.?(?P<path>.*)`)?")
_SURROGATES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


def explained(message: str, record: bytes) -> str:
    """The message for a value of the wrong type, or a missing field, with the field's path."""
    if match := _WRONG_TYPE.fullmatch(message):
        if not match["path"]:
            return _no_object(record, f"expected a JSON object, got {match['got']}")
        return f"{match['path']} is of type {match['got']}, expected {match['needed'].replace(' | ', ' or ')}"
    if match := _MISSING.fullmatch(message):
        path = f"{match['path']}.{match['field']}" if match["path"] else match["field"]
        return f"field '{path}' is missing"
    return message.replace("`", "").replace(" - at $.", ", field ")


def malformed(message: str, record: bytes) -> str:
    """The message for bytes that are not JSON."""
    if not record.strip():
        return "not JSON: the record is empty"
    if _is_part(record):
        return f"{_PART}, expected one object a line"
    if any(match["lone"] for match in _SURROGATES.finditer(record.decode())):
        return "not JSON: half of a surrogate pair"
    if message == "Input data was truncated":
        return "not JSON: it is cut off"
    return f"not JSON: {message.removeprefix('JSON is malformed: ')}"


def _no_object(record: bytes, message: str) -> str:
    """The message for a record whose beginning is JSON, but no object."""
    value: Any = None
    with suppress(msgspec.DecodeError, RecursionError):
        value = msgspec.json.decode(record)
        if isinstance(value, str):
            value = msgspec.json.decode(value)
            return _TWICE if isinstance(value, dict) else message
    return f"{_PART}, expected one object a line" if value is None and _is_part(record) else message


def _is_part(record: bytes) -> bool:
    """Whether a line that is no JSON object may be one of several: brackets, a key, or a value in an array."""
    bare = record.strip()
    if not bare.strip(_BRACKETS) or _BEGINS_WITH_KEY.match(bare):
        return True
    whole = bare.rstrip(b",]")
    with suppress(msgspec.DecodeError, RecursionError):
        msgspec.json.decode(whole.lstrip(b"["))
        return whole != bare or bare[:1] == b"["
    return False
