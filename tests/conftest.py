"""What all tests share."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, sync_playwright

from tests.locations import DATA

# A kernel's first call compiles it, which takes as long as it takes.
settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real streams beside the checkout; in CI its absence is a failure."""
    if not DATA.is_dir():
        message = f"no real streams at {DATA}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return DATA


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium; in CI its absence is a failure."""
    path = shutil.which("chromium")
    if path is None:
        message = "no chromium on this machine"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()
