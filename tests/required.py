"""What a machine may lack. In CI its absence is a failure, elsewhere the test is skipped."""

import os
import shutil
from typing import NoReturn

import pytest


def missing(message: str) -> NoReturn:
    """Fail in CI, skip elsewhere."""
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


def program(name: str) -> str:
    """The path of a program that the system must have."""
    path = shutil.which(name)
    if path is None:
        missing(f"no {name} on this machine")
    return path
