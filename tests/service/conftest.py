"""A service in a process of its own."""

from collections.abc import Iterator

import pytest

from tests.service.served import Served, served


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One for all tests of a module; it accepts labels by id, and lists of up to 100."""
    folder = tmp_path_factory.mktemp("service") / "state"
    with served(folder, "--late-labels", "--set", "serve.max_batch=100") as running:
        yield running
