"""A real Apache Kafka broker on this machine: one node (KRaft), on the loopback interface only.

`command.py` starts and stops it by hand; tests use the class. It needs only the standard library.
"""

import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from deploy.kafka.library import HERE, BrokerError, class_archive, java, library
from deploy.kafka.listeners import PLAINTEXT, Listener

HOST = "127.0.0.1"
PATIENCE = 120.0
"""Seconds to wait for a broker to start or stop."""

_STARTED = "Kafka Server started"
_CLUSTER = "c3RyZWFtbGluLWthZmthLQ"
"""The cluster's id: any 22 characters of base64."""

_JVM = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xlog:cds*=off"]
"""Only the first compiler: a faster start, half the processor time, and as many messages a second.

An archive of classes that does not fit is ignored without a word.
"""

_NODE = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "broker.session.timeout.ms": "2000",  # after a crash it cannot register again before that
    "broker.heartbeat.interval.ms": "300",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "4",
    "log.cleaner.dedupe.buffer.size": str(16 << 20),  # 128 MiB of the heap otherwise
}


def is_free(port: int) -> bool:
    """Whether nothing listens on a port of loopback."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def free_ports(count: int) -> list[int]:
    """Unused ports below those that the system gives to outgoing connections."""
    candidates = random.sample(range(20_000, 32_000), 1000)
    return [port for port in candidates if is_free(port)][:count]


class Broker:
    """A broker that can be stopped, killed and started again on its data and ports.

    Parameters
    ----------
    folder : for its settings, log and data; made if missing.
    listeners : more than the first, which is always PLAINTEXT.
    settings : more server properties; what is changed in `broker.settings` counts from the next start.
    scram : passwords by user, for SCRAM-SHA-256 and SCRAM-SHA-512.
    port : of the first listener; a free one by default.
    outlives : whether it goes on when the process that started it is gone, however that ended.
    classes : where to keep the classes that it has loaded, when it stops.

    Raises
    ------
    BrokerError : java or mvn is missing, or the broker does not start.
    """

    def __init__(
        self,
        folder: Path,
        listeners: Sequence[Listener] = (),
        settings: Mapping[str, str] | None = None,
        scram: Mapping[str, str] | None = None,
        port: int | None = None,
        outlives: bool = False,
        classes: Path | None = None,
    ) -> None:
        self.folder = folder
        self.log = folder / "broker.log"
        self._listeners = (PLAINTEXT, *listeners)
        self._ports = free_ports(len(self._listeners) + 1)
        if port is not None:
            self._ports[0] = port
        self.settings = dict(settings or {})
        self._scram = dict(scram or {})
        self._outlives = outlives
        self._keeping = [] if classes is None else [f"-XX:ArchiveClassesAtExit={classes}"]
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """`host:port` of the first listener."""
        return self.address_of(PLAINTEXT.name)

    def address_of(self, name: str) -> str:
        """`host:port` of a listener."""
        names = [listener.name for listener in self._listeners]
        return f"{HOST}:{self._ports[names.index(name)]}"

    @property
    def pid(self) -> int:
        """The process id."""
        if self._process is None:
            raise BrokerError("the broker does not run")
        return self._process.pid

    def start(self) -> None:
        """Start it, with the data it has; returns once it answers."""
        if taken := [port for port in self._ports if not is_free(port)]:
            raise BrokerError(f"Kafka cannot start: something listens on port {taken[0]} already")
        if not (self.folder / "data").exists():
            self._format()
        self._write_properties()
        command = _java(*self._keeping, "kafka.Kafka", self._properties)
        with open(self.log, "ab") as log:
            begin = log.tell()
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for others
            )
        if not self._outlives:
            self._guard = _guard(self.pid)
        self._wait(self._process, begin)

    def stop(self) -> None:
        """End it in order (SIGTERM)."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once (SIGKILL), like a crash."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            if self._guard is not None:
                self._guard.kill()
                self._guard.communicate()
            self._process.send_signal(how)
            self._process.wait(PATIENCE)
            self._process = self._guard = None

    def _format(self) -> None:
        """Prepare the data folder, wholly or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._write_properties()
        users = [
            argument
            for name, password in self._scram.items()
            for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512")
            for argument in ("--add-scram", f"{mechanism}=[name={name},password={password}]")
        ]
        command = _java("kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", self._properties, *users)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            shutil.rmtree(self.folder / "data", ignore_errors=True)
            raise BrokerError(f"Kafka's storage could not be prepared:\n{_end_of(done.stdout + done.stderr)}")

    @property
    def _properties(self) -> Path:
        return self.folder / "server.properties"

    def _write_properties(self) -> None:
        *doors, controller = [f"{HOST}:{port}" for port in self._ports]
        urls = [f"{listener.name}://{door}" for listener, door in zip(self._listeners, doors, strict=True)]
        protocols = [f"{listener.name}:{listener.protocol}" for listener in self._listeners]
        properties = _NODE | {
            "listeners": ",".join([*urls, f"CONTROLLER://{controller}"]),
            "advertised.listeners": ",".join(urls),
            "listener.security.protocol.map": ",".join([*protocols, "CONTROLLER:PLAINTEXT"]),
            "controller.quorum.voters": f"1@{controller}",
            "log.dirs": str(self.folder / "data"),
        }
        for listener in self._listeners:
            properties |= listener.properties()
        lines = [f"{key}={value}\n" for key, value in (properties | self.settings).items()]
        self._properties.write_text("".join(lines))

    def _wait(self, process: "subprocess.Popen[bytes]", begin: int) -> None:
        """Wait until the log says, after its first `begin` bytes, that requests are answered."""
        deadline = time.monotonic() + PATIENCE
        while _STARTED not in self._written(begin):
            if process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise BrokerError(f"Kafka did not start; the end of its log:\n{_end_of(self._written(begin))}")
            time.sleep(0.02)

    def _written(self, begin: int) -> str:
        with open(self.log, "rb") as log:
            log.seek(begin)
            return log.read().decode(errors="replace")


def _guard(pid: int) -> "subprocess.Popen[bytes]":
    """A process that kills another once this one has ended and closed the pipe to it."""
    return subprocess.Popen(["sh", "-c", f"read _; kill -9 {pid}"], stdin=subprocess.PIPE, start_new_session=True)


def _java(*arguments: object) -> list[str]:
    logging = f"-Dlog4j2.configurationFile={HERE / 'log4j2.properties'}"
    program, archive = java(), class_archive()
    shared = [f"-XX:SharedArchiveFile={archive}"] if archive.exists() else []
    return [program, *_JVM, *shared, logging, "-cp", f"{library()}/*", *map(str, arguments)]


def _end_of(text: str) -> str:
    """The log's last lines, without their places in the code."""
    lines = [line for line in text.splitlines() if not line.startswith(("\tat ", "\t... "))]
    return "\n".join(lines[-5:])
