"""JSON lines as a whole configuration has them, for events that no URL names a format for."""

from streamlin.config import RunConfig
from streamlin.formats.json import JsonFormat
from streamlin.streams.decoders import open_decoder


def json_lines(config: RunConfig) -> JsonFormat:
    """JSON lines with the fields of a configuration; with labels by id, records without texts are labels."""
    lines = open_decoder("json", {}, config)
    assert isinstance(lines, JsonFormat)
    if config.delayed_labels.by_id:
        lines.take_delayed_labels()
    return lines
