"""Everything streamlin raises, and the exit code each one ends a command with.

StreamlinError          1
├─ ConfigError          2   the configuration or the command line is wrong
│  └─ UnknownScheme         no connector has this URL scheme
├─ ConnectorError       3   a source or sink failed for good
├─ GuestError           3   an external model failed, and `on_error` is "stop"
├─ CheckpointError      4   a checkpoint is missing, locked, damaged, or was made with a different configuration
└─ RecordError              one record is bad: a dead letter, never the end of the stream
   └─ DecodeError           its bytes are not what the format says
"""

import re
import sys
from collections.abc import Iterable

_SECRET = re.compile(
    r"(?<=//).*(?:(?=@)|(?=%40))|(?<=password=)[^&]*|(?<=secret=)[^&]*|(?<=token=)[^&]*", re.IGNORECASE
)
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters (C0 and C1) but tabs and line feeds, ends of lines and paragraphs, and marks of direction."""


class StreamlinError(Exception):
    """Base of all errors; its text is one line, ready to be shown."""

    exit_code = 1


class ConfigError(StreamlinError):
    """A setting is wrong. The text names the key, the value and what was expected."""

    exit_code = 2


class UnknownScheme(ConfigError):  # noqa: N818  # a public name
    """No installed connector provides this URL scheme."""


class ConnectorError(StreamlinError):
    """A source or sink failed for good."""

    exit_code = 3


class GuestError(StreamlinError):
    """A model of another library failed, and the configuration says to stop the run then."""

    exit_code = 3


class CheckpointError(StreamlinError):
    """A checkpoint can't be used."""

    exit_code = 4


class RecordError(StreamlinError):
    """A record can't become an event; it goes to the dead letters."""


class DecodeError(RecordError):
    """The bytes of a record are not in the source's format."""


def nearest(word: str, known: Iterable[str]) -> str:
    """For a message about an unknown word: `did you mean 'x'?`, or the list of known words."""
    from difflib import get_close_matches  # imported only when something went wrong

    names = list(known)
    close = get_close_matches(word.lower(), {name.lower(): name for name in names}, n=1, cutoff=0.5)
    if close:
        return "did you mean '" + next(name for name in names if name.lower() == close[0]) + "'?"
    return f"choose one of {', '.join(names)}" if names else "none are available"


def missing(what: str, extra: str, error: ImportError, named: str | None = None) -> str:
    """For a message about a package that is not installed: what needs it, and how to install it.

    named : what it is called where it is installed from, if not as it is imported.
    """
    package = (error.name or "").partition(".")[0]
    in_the_way = getattr(sys.modules.get(package), "__file__", None)
    if in_the_way is not None:
        return f"{what} needs {named or package}, but {in_the_way} is found first, and is not it: rename that file"
    return f"{what} needs {named or package}, which is not installed: pip install 'streamlin[{extra}]'"


def masked(line: str) -> str:
    """A line to print: `�` for each character that steers a terminal, ends the line, or reorders what is shown."""
    return _STEERING.sub("\N{REPLACEMENT CHARACTER}", line.replace("\n", "\N{REPLACEMENT CHARACTER}"))


def masked_json(text: str) -> str:
    """JSON to print: characters that `masked` replaces become escapes, so that its values stay the same."""
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def redacted(text: str) -> str:
    """An address to show, without anything that looks like a secret."""
    return _SECRET.sub("…", text)


def spelled(name: str) -> str:
    """A file's name for people and JSON: bytes that are not UTF-8 become `\\xff`, and no lone surrogate is left."""
    if name.isascii():
        return name
    try:
        return name.encode(errors="surrogateescape").decode(errors="backslashreplace")
    except UnicodeEncodeError:  # a surrogate that stands for no byte
        return name.encode(errors="backslashreplace").decode()
