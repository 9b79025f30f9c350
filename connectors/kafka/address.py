"""The part of a URL after `kafka://`: `host:port[,host:port]/topic[,topic]`."""

import re
from dataclasses import dataclass

from streamlin.errors import ConfigError

_SERVER = re.compile(r"(?:\[[0-9a-fA-F:.]+\]|[\w-]{1,63}(?:\.[\w-]{1,63})*\.?)(?::(?P<port>\d{1,5}))?", re.ASCII)
_TOPIC = re.compile(r"[\w.-]{1,249}", re.ASCII)
_PORT = 9092


@dataclass(frozen=True)
class KafkaAddress:
    """Bootstrap servers, `host:port` each, and topics."""

    servers: tuple[str, ...]
    topics: tuple[str, ...]


def parse_address(text: str) -> KafkaAddress:
    """Raises ConfigError for an invalid address, and for one with a user or password, which it does not show."""
    servers, _, topics = text.partition("/")
    if "@" in text or "%40" in text:  # in the topics too: a password may have a slash
        raise ConfigError("kafka: the URL contains a user or a password; set them in [kafka] of the configuration")
    brokers = [_server(server) for server in servers.split(",") if server]
    listed = dict.fromkeys(_topic(topic) for topic in topics.split(",") if topic)
    for found, what in ((brokers, "broker"), (listed, "topic")):
        if not found:
            raise ConfigError(f"kafka://{text}: no {what}; expected kafka://host:port/topic")
    return KafkaAddress(tuple(brokers), tuple(listed))


def _server(text: str) -> str:
    """`host:port`; port 9092 by default."""
    found = _SERVER.fullmatch(text)
    if found is None or not 0 < int(found["port"] or _PORT) < 65536:
        raise ConfigError(f"kafka: invalid broker '{text}'; expected host:port, as in kafka://localhost:9092/topic")
    return text if found["port"] else f"{text}:{_PORT}"


def _topic(text: str) -> str:
    if not _TOPIC.fullmatch(text) or text in (".", ".."):
        raise ConfigError(f"kafka: invalid topic '{text}'; expected at most 249 letters, digits, '.', '_' and '-'")
    return text
