"""What all tests share."""

import os
from pathlib import Path

import pytest

from tests.locations import DATA


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real streams beside the checkout; in CI its absence is a failure."""
    if not DATA.is_dir():
        message = f"no real streams at {DATA}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return DATA
