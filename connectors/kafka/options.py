"""The options of `kafka://` URLs, checked."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from streamlin.errors import ConfigError, nearest

CLIENT = "client."
_SECRET = re.compile(r"password|secret|token|jaas|credential", re.IGNORECASE)


@dataclass(frozen=True)
class Start:
    """Where to begin in a partition without a known position: `earliest`, `latest`, an offset, or a time."""

    where: str = "earliest"
    offset: int | None = None
    time_ms: int | None = None


@dataclass(frozen=True)
class ClientOptions:
    """Which client, and its settings under its own names."""

    client: str = "kafka-python"
    own: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SourceOptions(ClientOptions):
    """Of a source.

    group : the consumer group that offsets are committed for; with `assignment="group"` its members share the topics.
    instance : the name of a static member of the group.
    start : where to begin. stop_at_end : end where the topics ended when the run began.
    shared : partitions are shared among the group; else this process reads all.
    skip_gaps : continue after records that are gone.
    wait_for_topic : without a time limit.
    batch_wait : seconds that the first record of a batch waits for more.
    fetch_max_bytes, max_partition_fetch_bytes : limits of one fetch. None: the client's default.
    max_poll_interval_ms, session_timeout_ms : after these the group removes a member. None: the client's default.
    """

    group: str | None = None
    instance: str | None = None
    start: Start = field(default_factory=Start)
    stop_at_end: bool = False
    shared: bool = False
    skip_gaps: bool = False
    wait_for_topic: bool = False
    batch_wait: float = 0.005
    fetch_max_bytes: int | None = None
    max_partition_fetch_bytes: int | None = None
    max_poll_interval_ms: int = 300_000
    session_timeout_ms: int | None = None

    @property
    def heartbeat_interval_ms(self) -> int | None:
        """So that several fit into the session's timeout. None: the client's default, 3000."""
        return None if self.session_timeout_ms is None else min(3000, max(1, self.session_timeout_ms // 4))


@dataclass(frozen=True)
class SinkOptions(ClientOptions):
    """Of a sink.

    compression : none, gzip, snappy, lz4 or zstd.
    linger_ms : how long a message waits for others to travel with.
    transaction : the transactional id; None: no transactions.
    group : the group whose offsets are part of the transactions.
    """

    compression: str = "none"
    linger_ms: int = 2
    transaction: str | None = None
    group: str | None = None


_CLIENTS = ("kafka-python", "confluent")
_COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")
SOURCE = (
    *("client", "group", "instance", "start", "stop", "assignment", "on_gap", "wait_for_topic", "max_batch_wait_ms"),
    *("fetch_max_bytes", "max_partition_fetch_bytes", "max_poll_interval_ms", "session_timeout_ms"),
)
SINK = ("client", "compression", "linger_ms", "transactional", "group")
"""Names of the options of a source and of a sink, apart from those that begin with `client.`."""


def source_options(options: Mapping[str, str]) -> SourceOptions:
    """Raises ConfigError for an unknown option or an invalid value."""
    own = _checked("kafka source", options, SOURCE)
    shared = _one_of(options, "assignment", ("all", "group")) == "group"
    group = options.get("group") or None
    if shared and group is None:
        raise ConfigError("kafka source: assignment=group needs group=NAME")
    if options.get("instance") and not shared:
        raise ConfigError("kafka source: instance= needs assignment=group")
    stop_at_end = "stop" in options and _one_of(options, "stop", ("end",)) == "end"
    if stop_at_end and shared:
        raise ConfigError("kafka source: stop=end needs assignment=all: a group's partitions come and go")
    return SourceOptions(
        client=_one_of(options, "client", _CLIENTS),
        own=own,
        group=group,
        instance=options.get("instance") or None,
        start=parse_start(options.get("start", "earliest")),
        stop_at_end=stop_at_end,
        shared=shared,
        skip_gaps=_one_of(options, "on_gap", ("stop", "continue")) == "continue",
        wait_for_topic=_one_of(options, "wait_for_topic", ("false", "true")) == "true",
        batch_wait=(_whole(options, "max_batch_wait_ms", least=0) or 0) / 1000
        if "max_batch_wait_ms" in options
        else 0.005,
        fetch_max_bytes=_whole(options, "fetch_max_bytes"),
        max_partition_fetch_bytes=_whole(options, "max_partition_fetch_bytes"),
        max_poll_interval_ms=_whole(options, "max_poll_interval_ms") or 300_000,
        session_timeout_ms=_whole(options, "session_timeout_ms"),
    )


def sink_options(options: Mapping[str, str]) -> SinkOptions:
    """Raises ConfigError for an unknown option or an invalid value."""
    own = _checked("kafka sink", options, SINK)
    transaction, group = options.get("transactional") or None, options.get("group") or None
    if (transaction is None) != (group is None):
        raise ConfigError("kafka sink: transactional=ID and group=NAME, the source's group, need each other")
    linger = _whole(options, "linger_ms", least=0)
    return SinkOptions(
        client=_one_of(options, "client", _CLIENTS),
        own=own,
        compression=_one_of(options, "compression", _COMPRESSIONS),
        linger_ms=2 if linger is None else linger,
        transaction=transaction,
        group=group,
    )


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


def _checked(what: str, options: Mapping[str, str], known: tuple[str, ...]) -> dict[str, str]:
    """The client's own settings among the options."""
    own = {}
    for name, value in options.items():
        if _SECRET.search(name):
            raise ConfigError(f"{what}: '{name}' must not be in a URL; set secrets in [kafka] of the configuration")
        if name.startswith(CLIENT):
            own[name.removeprefix(CLIENT)] = value
        elif name not in known:
            raise ConfigError(f"{what}: no option '{name}'; {nearest(name, known)}")
    return own


def _one_of(options: Mapping[str, str], name: str, values: tuple[str, ...]) -> str:
    """The value of an option; the first one by default."""
    value = options.get(name, values[0])
    if value not in values:
        raise ConfigError(f"kafka: {name}={value}: expected {' or '.join(values)}")
    return value


def _whole(options: Mapping[str, str], name: str, least: int = 1) -> int | None:
    value = options.get(name)
    if value is None:
        return None
    if not (value.isascii() and value.isdigit() and int(value) >= least):
        raise ConfigError(f"kafka: {name}={value}: expected a whole number, at least {least}")
    return int(value)
