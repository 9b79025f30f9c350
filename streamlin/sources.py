"""From an address to a source, the format of its records, and their pace."""

import threading
from collections.abc import Callable, Mapping

from streamlin.addresses import Address
from streamlin.config import RunConfig
from streamlin.events import Position, Source, SourceContext
from streamlin.formats import format_of, open_format, option_names
from streamlin.formats.base import Format
from streamlin.pace import Pace, parse_pace
from streamlin.registry import connector


def open_source(
    address: Address,
    config: RunConfig,
    positions: Mapping[str, Position],
    notice: Callable[[str], None],
    stop: threading.Event,
) -> tuple[Source, Format, Pace | None]:
    """Open a source. Of the URL's options `format`, `rate`, `speed` and those of the format are not the source's.

    Raises
    ------
    ConfigError : an option is wrong. ConnectorError : it can't be read.
    """
    options = dict(address.options)
    name = options.pop("format", None) or format_of(address.address)
    pace = parse_pace({key: options.pop(key) for key in ("rate", "speed") if key in options}, stop)
    own = {key: options.pop(key) for key in option_names(name) if key in options}
    evaluation = config.evaluation
    extra = tuple(dict.fromkeys((*config.fields.categories, *evaluation.slice_by, *evaluation.references)))
    decoder = open_format(name, own, config.fields, extra)
    context = SourceContext(
        options=options,
        framing=decoder.framing,
        positions=positions,
        follow=config.source.follow,
        max_record_bytes=config.pipeline.max_record_bytes,
        notice=notice,
    )
    source: Source = connector("sources", address.scheme)(address.address, context)
    return source, decoder, pace
