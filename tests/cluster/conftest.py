"""One Ray cluster for all tests, which runs join."""

import os
import subprocess
import sys
from collections.abc import Iterator
from secrets import token_hex

import pytest

from tests.cluster.processes import Cluster
from tests.integration.conftest import _nothing_is_left_running  # noqa: F401
from tests.integration.kafka.conftest import broker, kafka_library, topic  # noqa: F401
from tests.locations import ROOT

_SETTINGS = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_worker_niceness": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": token_hex(32),
}


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A cluster with six processors, on the loopback device alone; the environment has what runs need to join it."""
    before = dict(os.environ)
    os.environ.update(_SETTINGS)
    command = [sys.executable, "-m", "tests.cluster.head"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as head:
        assert head.stdin is not None
        assert head.stdout is not None
        try:
            address = head.stdout.readline().decode().strip()
            assert address, "Ray did not start"
            yield Cluster(address, head.pid)
        finally:
            head.stdin.close()
            head.wait()
            os.environ.clear()
            os.environ.update(before)
