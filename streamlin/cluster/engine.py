"""Ray, which only this file imports: it starts the workers, carries messages, and restarts what has died."""

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from secrets import token_hex
from typing import Any

from streamlin.cluster.messages import Packed
from streamlin.cluster.worker import OutOfStepError, Worker
from streamlin.errors import ConfigError, ConnectorError, StreamlinError, missing

_LOOPBACK = "127.0.0.1"
_ONE_MACHINE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""With 0 Ray takes 127.0.0.1 for this machine; otherwise it looks for an address that others reach, and binds all."""

_FEATURES = "features"
"""The calls of a worker that have a thread of their own."""
_SETTINGS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0", "RAY_IGNORE_UNHANDLED_ERRORS": "1"}
"""Nothing is sent to Ray's makers; workers get as much of the processors as the run, not what others leave; and of a
call that fails Ray does not print what the caller did not ask for, but was told."""


class WorkerLostError(ConnectorError):
    """A worker has died, or can't be reached, or has lost what it was given."""


class Engine:
    """The processes of some workers, which may die and are then started anew, without what they knew.

    workers : how many. address : of the cluster to join; None: one is started here, on the loopback device alone.

    Raises
    ------
    ConfigError : Ray is not installed, is in use in this process, or would listen to other machines.
    ConnectorError : it can't be started, or does not answer at the address.
    """

    def __init__(self, workers: int, address: str | None) -> None:
        self._address = address
        self._ray = ray = _imported(address)
        if ray.is_initialized():
            raise ConfigError("cluster.workers: Ray is in use in this process already; call ray.shutdown() before")
        how: dict[str, Any] = {"address": address}
        if address is None:
            how = {"address": "local", "_node_ip_address": _LOOPBACK, "include_dashboard": False, "num_cpus": workers}
        with _own_signals():
            try:
                ray.init(**how, log_to_driver=False, logging_level="ERROR")
            except Exception as error:
                where = "be started" if address is None else f"be reached at {address}"
                raise ConnectorError(f"cluster: Ray can't {where}: {_first_line(error)}") from None
        each = {"num_cpus": 1, "max_restarts": -1, "max_task_retries": 0, "scheduling_strategy": "SPREAD"}
        worker = ray.remote(concurrency_groups={_FEATURES: 1}, **each)(Worker)
        self._workers = [worker.remote() for _ in range(workers)]

    def put(self, message: Packed) -> Any:
        """A reference to a message, which workers can be sent."""
        return self._ray.put(message)

    def restore(self, worker: int, version: str, copy: Any, shards: Sequence[int], parts: Sequence[Any]) -> Any:
        """Call `Worker.restore`; returns a reference to the end of it."""
        return self._workers[worker].restore.remote(version, copy, shards, *parts)

    def copy(self, worker: int, number: int, shards: int, parts: Sequence[Any]) -> Any:
        """Call `Worker.copy`, after the calls before; returns a reference to its result."""
        return self._workers[worker].copy.remote(number, shards, *parts)

    def prepare(self, worker: int, number: int, work: Any) -> None:
        """Call `Worker.prepare`, beside the other calls."""
        self._workers[worker].prepare.options(num_returns=0, concurrency_group=_FEATURES).remote(number, work)

    def learn(self, worker: int, number: int, work: Any, shards: int, parts: Sequence[Any]) -> list[Any]:
        """Call `Worker.learn`, after the calls before; returns references to its results."""
        learn = self._workers[worker].learn.options(num_returns=3)
        references: list[Any] = learn.remote(number, work, shards, *parts)
        return references

    def get(self, references: Any, seconds: float | None = None) -> Any:
        """Wait for what a reference, or a list of them, stands for. seconds : for how long; None: as long as it takes.

        Raises
        ------
        WorkerLostError : the worker has died, or does not answer in time.
        StreamlinError : what the worker has raised.
        """
        from ray.exceptions import GetTimeoutError, RayError, RayTaskError

        try:
            return self._ray.get(references, timeout=seconds)
        except GetTimeoutError:
            processors = self._ray.cluster_resources().get("CPU", 0)
            raise WorkerLostError(f"no answer in {seconds:.0f} s; Ray has {processors:.0f} processors in all") from None
        except RayTaskError as error:
            if isinstance(error.cause, RayError):  # an argument is lost
                raise WorkerLostError(_first_line(error.cause)) from None
            if isinstance(error.cause, OutOfStepError | StreamlinError):
                raise error.cause from None
            raise ConnectorError(f"cluster: a worker failed: {_first_line(error.cause)}") from error
        except RayError as error:
            raise WorkerLostError(_first_line(error)) from None

    def close(self) -> None:
        """End the workers, and Ray if it was started here."""
        for worker in self._workers:
            self._ray.kill(worker)
        self._ray.shutdown()


def _imported(address: str | None) -> Any:
    """Ray, which reads its settings from the environment as it is imported."""
    on_loopback = address is None or address.startswith((_LOOPBACK, "localhost"))
    settings = _SETTINGS | ({_ONE_MACHINE: "0"} if on_loopback else {})
    if address is None and "ray" not in sys.modules and "RAY_AUTH_MODE" not in os.environ:
        settings |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token_hex(32)}  # for this run, and kept nowhere
    for name, value in settings.items():
        os.environ.setdefault(name, value)
    try:
        import ray
        from ray._private import services
    except ImportError as error:
        raise ConfigError(missing("--workers", "cluster", error)) from None
    own_address: Any = services
    if on_loopback and not ray.is_initialized() and own_address.get_node_ip_address() != _LOOPBACK:
        raise ConfigError(
            f"cluster.workers: Ray was imported before, and would listen to other machines; set {_ONE_MACHINE}=0 first"
        )
    return ray


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep the handler of SIGTERM, which Ray replaces."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
