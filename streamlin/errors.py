"""Everything streamlin raises, and the exit code each one ends a command with.

StreamlinError          1
├─ ConfigError          2   the configuration or the command line is wrong
│  └─ UnknownScheme         no connector has this URL scheme
├─ ConnectorError       3   a source or sink failed for good
├─ CheckpointError      4   a checkpoint is missing, locked, damaged or another configuration's
└─ RecordError              one record is bad: a dead letter, never the end of the stream
   └─ DecodeError           its bytes are not what the format says
"""


class StreamlinError(Exception):
    """Base of all errors; its text is one line that can be shown as it is."""

    exit_code = 1


class ConfigError(StreamlinError):
    """A setting is wrong. The text names the key, the value and what would be right."""

    exit_code = 2


class UnknownScheme(ConfigError):
    """No installed connector provides this URL scheme."""


class ConnectorError(StreamlinError):
    """A source or sink failed for good."""

    exit_code = 3


class CheckpointError(StreamlinError):
    """A checkpoint that can't be used."""

    exit_code = 4


class RecordError(StreamlinError):
    """A record that can't become an event; it goes to the dead letters."""


class DecodeError(RecordError):
    """A record whose bytes are not of the source's format."""
