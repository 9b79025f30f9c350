"""Formats as a whole configuration has them: for texts, sentences or trees, with its fields and bounds."""

from collections.abc import Mapping

from streamlin.config import RunConfig, further_fields, kept_fields
from streamlin.errors import ConfigError
from streamlin.formats import open_format, open_sentences, open_trees
from streamlin.formats.base import Format
from streamlin.formats.lengths import Lengths


def open_decoder(name: str, options: Mapping[str, str], config: RunConfig) -> Format:
    """The format of that name; arguments and errors as of `streamlin.formats.open_format`."""
    further = further_fields(config)
    if config.task in ("tagging", "parsing"):
        from streamlin.features.text_tokens import cutter

        cut = cutter(config.features.views["words"].tokens)
        opened = open_sentences if config.task == "tagging" else open_trees
        decoder = opened(name, options, config.fields, further, cut)
    elif name == "bracketed":
        raise ConfigError("format bracketed holds trees, not texts with labels; set task = 'parsing' (--task parsing)")
    else:
        decoder = open_format(name, options, config.fields, further)
    message = config.drain.field if config.drain.enabled and config.drain.field not in kept_fields(config) else None
    decoder.lengths = Lengths.of(config.pipeline, message)
    return decoder
