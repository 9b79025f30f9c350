"""Everything streamlin raises, and the exit code each one ends a command with.

StreamlinError          1
├─ ConfigError          2   the configuration or the command line is wrong
│  └─ UnknownScheme         no connector has this URL scheme
├─ ConnectorError       3   a source or sink failed for good
├─ GuestError           3   an external model failed, and that is to stop the run
├─ CheckpointError      4   a checkpoint is missing, locked, damaged or another configuration's
└─ RecordError              one record is bad: a dead letter, never the end of the stream
   └─ DecodeError           its bytes are not what the format says
"""

from collections.abc import Iterable


class StreamlinError(Exception):
    """Base of all errors; its text is one line that can be shown as it is."""

    exit_code = 1


class ConfigError(StreamlinError):
    """A setting is wrong. The text names the key, the value and what would be right."""

    exit_code = 2


class UnknownScheme(ConfigError):  # noqa: N818  # says what it is
    """No installed connector provides this URL scheme."""


class ConnectorError(StreamlinError):
    """A source or sink failed for good."""

    exit_code = 3


class GuestError(StreamlinError):
    """A model of another library failed, and the configuration says that the run stops then."""

    exit_code = 3


class CheckpointError(StreamlinError):
    """A checkpoint that can't be used."""

    exit_code = 4


class RecordError(StreamlinError):
    """A record that can't become an event; it goes to the dead letters."""


class DecodeError(RecordError):
    """A record whose bytes are not of the source's format."""


def nearest(word: str, known: Iterable[str]) -> str:
    """For a message about an unknown word: `did you mean 'x'?`, or the list of what is known."""
    from difflib import get_close_matches  # only where something went wrong

    names = list(known)
    close = get_close_matches(word.lower(), {name.lower(): name for name in names}, n=1, cutoff=0.5)
    if close:
        return "did you mean '" + next(name for name in names if name.lower() == close[0]) + "'?"
    return f"there is {', '.join(names)}" if names else "there is none"


def missing(what: str, extra: str, error: ModuleNotFoundError) -> str:
    """For a message about a package that is not installed: what needs it, and how to get it."""
    package = (error.name or "").partition(".")[0]
    return f"{what} needs {package}, which is not installed: pip install 'streamlin[{extra}]'"
