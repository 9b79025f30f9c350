"""JSON lines as a whole configuration has them, for events that no URL names a format for."""

from streamlin.config import RunConfig, further_fields
from streamlin.formats.json import JsonFormat
from streamlin.formats.lengths import Lengths


def json_lines(config: RunConfig) -> JsonFormat:
    """JSON lines with the fields of a configuration; with labels by id, records without texts are labels."""
    further = further_fields(config)
    if config.task == "tagging":
        from streamlin.features.text_tokens import cutter
        from streamlin.formats.json_sentences import JsonSentences

        return JsonSentences({}, config.fields, further, cutter(config.features.views["words"].tokens))
    lines = JsonFormat({}, config.fields, further)
    lines.lengths = Lengths.of(config.pipeline)
    if config.delayed_labels.by_id:
        lines.take_delayed_labels()
    return lines
