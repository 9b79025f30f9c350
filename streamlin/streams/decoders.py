"""Formats as a whole configuration has them: for texts or for sentences, with its fields and bounds."""

from collections.abc import Mapping

from streamlin.config import RunConfig, further_fields
from streamlin.formats import open_format, open_sentences
from streamlin.formats.base import Format
from streamlin.formats.lengths import Lengths


def open_decoder(name: str, options: Mapping[str, str], config: RunConfig) -> Format:
    """The format of that name; arguments and errors as of `streamlin.formats.open_format`."""
    further = further_fields(config)
    if config.task == "tagging":
        from streamlin.features.text_tokens import cutter

        cut = cutter(config.features.views["words"].tokens)
        decoder = open_sentences(name, options, config.fields, further, cut)
    else:
        decoder = open_format(name, options, config.fields, further)
    decoder.lengths = Lengths.of(config.pipeline)
    return decoder
