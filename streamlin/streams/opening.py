"""Opening a source: from an address to the source, the format of its records, and the replay pace."""

import threading
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from itertools import chain

from streamlin.config import RunConfig, further_fields
from streamlin.errors import ConfigError
from streamlin.events import Position, Source, SourceContext
from streamlin.formats import FORMATS, format_of, open_format, option_names
from streamlin.formats.base import Format
from streamlin.formats.lengths import Lengths
from streamlin.registry import connector
from streamlin.streams.addresses import Address
from streamlin.streams.format_of_files import format_at
from streamlin.streams.replay_pace import Pace, parse_pace

_PACE_OPTIONS = ("rate", "speed")
_COMMON_OPTIONS = ("format", *_PACE_OPTIONS)


def open_source(
    address: Address,
    config: RunConfig,
    positions: Mapping[str, Position],
    notice: Callable[[str], None],
    stop: threading.Event,
    checkpoint: Callable[[], Mapping[str, Position]] = dict,
    delayed_labels: bool = False,
) -> tuple[Source, Format, Pace | None]:
    """Open a source. It gets the URL's options except `format`, `rate`, `speed` and those of the format.

    delayed_labels : whether a record may hold only the label of an earlier text.

    Raises
    ------
    ConfigError : an option is wrong. ConnectorError : the source can't be read.
    """
    options = dict(address.options)
    name = options.pop("format", None) or (format_at if address.scheme == "file" else format_of)(address.address)
    pace = parse_pace({key: options.pop(key) for key in _PACE_OPTIONS if key in options}, stop)
    format_options = {key: options.pop(key) for key in option_names(name) if key in options}
    decoder = open_format(name, format_options, config.fields, further_fields(config))
    decoder.lengths = Lengths.of(config.pipeline)
    if delayed_labels:
        decoder.take_delayed_labels()
    context = SourceContext(
        options=options,
        framing=decoder.framing,
        positions=positions,
        follow=config.source.follow,
        max_record_bytes=config.pipeline.max_record_bytes,
        notice=notice,
        settings=config.settings_of(address.scheme),
        checkpoint=checkpoint,
    )
    make: Callable[[str, SourceContext], Source] = connector("sources", address.scheme)
    try:
        return make(address.address, context), decoder, pace
    except ConfigError as error:
        raise ConfigError(f"{error}{_hint(options)}") from None


def _hint(options: Mapping[str, str]) -> str:
    """For a message: which format one of these options belongs to, or which known option it resembles."""
    for key in options:
        if formats := [name for name in FORMATS if key in option_names(name)]:
            return f"; '{key}' is an option of format={' and format='.join(formats)}"
    known = {*_COMMON_OPTIONS, *chain.from_iterable(map(option_names, FORMATS))}
    close = [match for key in options for match in get_close_matches(key, known, n=1, cutoff=0.7)]
    return f"; or did you mean '{close[0]}'?" if close else ""
