"""What msgspec says of a record, in our words."""

import re

_WRONG_TYPE = re.compile(r"Expected `(?P<needed>.+)`, got `(?P<found>.+?)`(?: - at `\$\.?(?P<path>.*)`)?")
_MISSING = re.compile(r"Object missing required field `(?P<field>.+?)`(?: - at `\$\.?(?P<path>.*)`)?")
_SURROGATES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


def explained(message: str) -> str:
    """What msgspec says of a wrong type, as a reader of the input calls it."""
    if found := _WRONG_TYPE.fullmatch(message):
        if not found["path"]:
            return f"a JSON object is needed, found {found['found']}"
        return f"{found['path']} is of type {found['found']}, needs {found['needed'].replace(' | ', ' or ')}"
    if found := _MISSING.fullmatch(message):
        path = f"{found['path']}.{found['field']}" if found["path"] else found["field"]
        return f"field '{path}' is missing"
    return message.replace("`", "").replace(" - at $.", ", field ")


def malformed(message: str, record: bytes) -> str:
    """What msgspec says of bytes that are no JSON."""
    if not record.strip():
        return "there is nothing"
    if any(found["lone"] for found in _SURROGATES.finditer(record.decode())):
        return "half of a surrogate pair"
    if message == "Input data was truncated":
        return "it is cut off"
    return message.removeprefix("JSON is malformed: ")
