"""msgspec's messages about a record, rephrased for the users of an input."""

import re

_WRONG_TYPE = re.compile(r"Expected `(?P<needed>.+)`, got `(?P<got>.+?)`(?: - at `\$\.?(?P<path>.*)`)?")
_MISSING = re.compile(r"Object missing required field `(?P<field>.+?)`(?: - at `\$\.?(?P<path>.*)`)?")
_SURROGATES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


def explained(message: str) -> str:
    """The message for a value of the wrong type, or a missing field, with the field's path."""
    if match := _WRONG_TYPE.fullmatch(message):
        if not match["path"]:
            return f"expected a JSON object, got {match['got']}"
        return f"{match['path']} is of type {match['got']}, expected {match['needed'].replace(' | ', ' or ')}"
    if match := _MISSING.fullmatch(message):
        path = f"{match['path']}.{match['field']}" if match["path"] else match["field"]
        return f"field '{path}' is missing"
    return message.replace("`", "").replace(" - at $.", ", field ")


def malformed(message: str, record: bytes) -> str:
    """The message for bytes that are not JSON."""
    if not record.strip():
        return "the record is empty"
    if any(match["lone"] for match in _SURROGATES.finditer(record.decode())):
        return "half of a surrogate pair"
    if message == "Input data was truncated":
        return "it is cut off"
    return message.removeprefix("JSON is malformed: ")
