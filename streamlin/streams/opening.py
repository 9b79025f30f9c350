"""Opening a source: from an address to the source, the format of its records, and the replay pace."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import chain

from streamlin.config import RunConfig
from streamlin.errors import ConfigError
from streamlin.events import Position, Share, Source, SourceContext
from streamlin.formats import FORMATS, format_of, option_names
from streamlin.formats.base import Format
from streamlin.formats.joined_lines import JoinedLines
from streamlin.registry import connector
from streamlin.streams.addresses import Address
from streamlin.streams.decoders import open_decoder
from streamlin.streams.format_of_files import format_at
from streamlin.streams.replay_pace import Pace, parse_pace
from streamlin.streams.time_units import OPTION, time_unit

_PACE_OPTIONS = ("rate", "speed")
_WHOLE_MESSAGES = ("kafka", "synthetic")
"""Sources without lines."""
_COMMON_OPTIONS = ("format", OPTION, *_PACE_OPTIONS)


def open_source(
    address: Address,
    config: RunConfig,
    positions: Mapping[str, Position],
    notice: Callable[[str], None],
    stop: threading.Event,
    checkpoint: Callable[[], Mapping[str, Position]] = dict,
    delayed_labels: bool = False,
    elsewhere: Sequence[tuple[str, Position]] = (),
    share: Share | None = None,
    dealt: int = 1,
) -> tuple[Source, Format, Pace | None]:
    """Open a source. It gets the URL's options except `format`, `rate`, `speed`, `time_unit` and those of the format.

    positions, checkpoint, elsewhere, share, dealt : see `streamlin.events.SourceContext`.
    delayed_labels : whether a record may hold only the label of an earlier text.

    Raises
    ------
    ConfigError : an option is wrong. ConnectorError : the source can't be read.
    """
    context, decoder, pace = _context_of(address, config, notice, stop, delayed_labels)
    context = replace(
        context, positions=positions, checkpoint=checkpoint, elsewhere=elsewhere, share=share, dealt=dealt
    )
    make: Callable[[str, SourceContext], Source] = connector("sources", address.scheme)
    try:
        return make(address.address, context), decoder, pace
    except ConfigError as error:
        raise ConfigError(f"{error}{_hint(context.options)}") from None


def parts_of(
    address: Address,
    config: RunConfig,
    notice: Callable[[str], None],
    stop: threading.Event,
    parts: Callable[[str, SourceContext], list[str]],
) -> list[str]:
    """The names of the parts at an address. parts : of its source, see `streamlin.events.Source`."""
    context, _, _ = _context_of(address, config, notice, stop, False)
    return parts(address.address, context)


def _context_of(
    address: Address, config: RunConfig, notice: Callable[[str], None], stop: threading.Event, delayed_labels: bool
) -> tuple[SourceContext, Format, Pace | None]:
    """What a source at an address is told, without positions; the format of its records, and the pace."""
    options = dict(address.options)
    name = options.pop("format", None) or (format_at if address.scheme == "file" else format_of)(address.address)
    pace = parse_pace({key: options.pop(key) for key in _PACE_OPTIONS if key in options}, stop)
    format_options = {key: options.pop(key) for key in option_names(name) if key in options}
    decoder = open_decoder(name, format_options, config)
    per_second = time_unit(options)
    options.pop(OPTION, None)
    decoder.read_times_in(per_second)
    decoder.is_stopped = stop.is_set
    if delayed_labels:
        decoder.take_delayed_labels()
    if isinstance(decoder.framing, JoinedLines):
        decoder.framing.longest = config.pipeline.max_record_bytes
        if address.scheme in _WHOLE_MESSAGES:
            raise ConfigError(f"{address.scheme}: multiline joins the lines of files; each message is an event")
    context = SourceContext(
        options=options,
        framing=decoder.framing,
        positions={},
        follow=config.source.follow,
        max_record_bytes=config.pipeline.max_record_bytes,
        notice=notice,
        settings=config.settings_of(address.scheme),
    )
    return context, decoder, pace


def _hint(options: Mapping[str, str]) -> str:
    """For a message: which format one of these options belongs to, or which known option it resembles."""
    for key in options:
        if formats := [name for name in FORMATS if key in option_names(name)]:
            return f"; '{key}' is an option of format={' and format='.join(formats)}"
    known = {*_COMMON_OPTIONS, *chain.from_iterable(map(option_names, FORMATS))}
    close = [match for key in options for match in get_close_matches(key, known, n=1, cutoff=0.7)]
    return f"; or did you mean '{close[0]}'?" if close else ""
