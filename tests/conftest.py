"""Where the real streams are."""

import os
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real streams beside the checkout; in CI its absence is a failure."""
    if not DATA.is_dir():
        message = f"no real streams at {DATA}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return DATA
