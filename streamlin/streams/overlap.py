"""Refusing a run that would write to what it reads."""

from streamlin.config import RunConfig
from streamlin.errors import ConfigError
from streamlin.streams.addresses import Address, parse_address
from streamlin.streams.sinks import is_same_file


def refuse_overlap(source: Address, config: RunConfig) -> None:
    """Raise ConfigError if a sink is the file or topic that the run reads."""
    for name, sink in config.sinks:
        target = None if sink is None else parse_address(sink, "stdout")
        if target is not None and is_same_file(source, target):
            raise ConfigError(f"sinks.{name}: {sink} is the file that is read; give another one")
        if target is not None and _same_topic(source, target):
            raise ConfigError(f"sinks.{name}: {sink} is the topic that is read; give another one")


def _same_topic(source: Address, sink: Address) -> bool:
    """Whether a sink's `host/topic` is among a source's `host/topic,topic`: the run would read its own output."""
    (hosts, _, topics), (host, _, topic) = source.address.partition("/"), sink.address.partition("/")
    return source.scheme == sink.scheme != "file" and hosts == host and topic in topics.split(",") and topic != ""
