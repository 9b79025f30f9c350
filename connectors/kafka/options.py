"""The options of `kafka://` URLs, checked."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator

from streamlin.errors import ConfigError, nearest

CLIENT = "client."
_SECRET = re.compile(r"password|secret|token|jaas|credential", re.IGNORECASE)


@dataclass(frozen=True)
class Start:
    """Where to begin in a partition without a known position: `earliest`, `latest`, an offset, or a time."""

    where: str = "earliest"
    offset: int | None = None
    time_ms: int | None = None


def parse_start(text: str) -> Start:
    """Raises ConfigError unless the text is `earliest`, `latest`, an offset or a time."""
    if text in ("earliest", "latest"):
        return Start(text)
    if text.isascii() and text.isdigit():
        return Start("offset", offset=int(text))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(
            f"kafka source: start={text}: expected earliest, latest, an offset, or a time as 2024-05-01T12:00:00Z"
        ) from None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return Start("time", time_ms=max(0, round(moment.timestamp() * 1000)))  # negative times have a meaning for brokers


def _flag(text: str) -> bool:
    if text not in ("false", "true"):
        raise ValueError("expected false or true")
    return text == "true"


def _whole(text: str, least: int) -> int:
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        raise ValueError(f"expected a whole number, at least {least}")
    return int(text)


Name = Annotated[str | None, BeforeValidator(lambda text: text or None)]
Whole = Annotated[int, BeforeValidator(lambda text: _whole(text, least=1))]
WholeOrZero = Annotated[int, BeforeValidator(lambda text: _whole(text, least=0))]


class ClientOptions(BaseModel):
    """Which client, and its settings under its own names."""

    model_config = ConfigDict(frozen=True)

    client: Literal["kafka-python", "confluent"] = "kafka-python"
    own: dict[str, str] = {}


class SourceOptions(ClientOptions):
    """Of a source.

    group : the consumer group that offsets are committed for; with `assignment="group"` its members share the topics.
    instance : the name of a static member of the group.
    start : where to begin. stop : end where the topics ended when the run began.
    assignment : partitions are shared among the group; else this process reads all.
    on_gap : stop, or continue after records that are gone.
    wait_for_topic : without a time limit.
    max_batch_wait_ms : the time that the first record of a batch waits for more.
    fetch_max_bytes, max_partition_fetch_bytes : limits of one fetch. None: the client's default.
    max_poll_interval_ms, session_timeout_ms : after these the group removes a member. None: the client's default.
    """

    group: Name = None
    instance: Name = None
    start: Annotated[Start, BeforeValidator(parse_start)] = Start()
    stop: Literal["end"] | None = None
    assignment: Literal["all", "group"] = "all"
    on_gap: Literal["stop", "continue"] = "stop"
    wait_for_topic: Annotated[bool, BeforeValidator(_flag)] = False
    max_batch_wait_ms: WholeOrZero = 5
    fetch_max_bytes: Whole | None = None
    max_partition_fetch_bytes: Whole | None = None
    max_poll_interval_ms: Whole = 300_000
    session_timeout_ms: Whole | None = None

    @property
    def is_shared(self) -> bool:
        """Whether the members of the group share the partitions."""
        return self.assignment == "group"

    @property
    def heartbeat_interval_ms(self) -> int | None:
        """So that several fit into the session's timeout. None: the client's default, 3000."""
        return None if self.session_timeout_ms is None else min(3000, max(1, self.session_timeout_ms // 4))

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.is_shared and self.group is None:
            raise ConfigError("kafka source: assignment=group needs group=NAME")
        if self.instance and not self.is_shared:
            raise ConfigError("kafka source: instance= needs assignment=group")
        if self.stop and self.is_shared:
            raise ConfigError("kafka source: stop=end needs assignment=all: a group's partitions come and go")
        return self


class SinkOptions(ClientOptions):
    """Of a sink.

    compression : of the messages. linger_ms : how long a message waits for others to travel with.
    transactional : the transactional id; None: no transactions. group : whose offsets are part of the transactions.
    """

    compression: Literal["none", "gzip", "snappy", "lz4", "zstd"] = "none"
    linger_ms: WholeOrZero = 2
    transactional: Name = None
    group: Name = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.transactional is None) != (self.group is None):
            raise ConfigError("kafka sink: transactional=ID and group=NAME, the source's group, need each other")
        return self


def _validated(what: str, kind: type[Any], options: Mapping[str, str]) -> Any:
    own, known = {}, _names(kind)
    for name, value in options.items():
        if _SECRET.search(name):
            raise ConfigError(f"{what}: '{name}' must not be in a URL; set secrets in [kafka] of the configuration")
        if name.startswith(CLIENT):
            own[name.removeprefix(CLIENT)] = value
        elif name not in known:
            raise ConfigError(f"{what}: no option '{name}'; {nearest(name, known)}")
    try:
        return kind(**{name: options[name] for name in known if name in options}, own=own)
    except ValidationError as error:
        found = error.errors()[0]
        raise ConfigError(f"kafka: {found['loc'][0]}={found['input']}: {_expected(found)}") from None


def _expected(found: Any) -> str:
    """What would be right instead of a value that pydantic refuses."""
    if found["type"] == "literal_error":
        return f"expected {found['ctx']['expected'].replace(chr(39), '')}"
    return str(found["ctx"]["error"])


def _names(kind: type[ClientOptions]) -> tuple[str, ...]:
    return tuple(name for name in kind.model_fields if name != "own")


SOURCE, SINK = _names(SourceOptions), _names(SinkOptions)
"""Names of the options of a source and of a sink, apart from those that begin with `client.`."""


def source_options(options: Mapping[str, str]) -> SourceOptions:
    """Raises ConfigError for an unknown option or an invalid value."""
    checked: SourceOptions = _validated("kafka source", SourceOptions, options)
    return checked


def sink_options(options: Mapping[str, str]) -> SinkOptions:
    """Raises ConfigError for an unknown option or an invalid value."""
    checked: SinkOptions = _validated("kafka sink", SinkOptions, options)
    return checked
