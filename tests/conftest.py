"""Fixtures and settings that all tests share."""

import os
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, sync_playwright

from tests.locations import DATA, ROOT
from tests.required import missing, program

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before scipy is imported, or scikit-learn skips one of its checks

Install = Callable[[str, str], None]
TESTS = ROOT / "tests"

# The first call of a kernel compiles it, which may take longer than any deadline.
settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")


LONG = (
    "docs/test_sessions.py",
    "cluster/",
    "kernel/test_decorator.py",
    "integration/kafka/test_exactly_once.py",
    "integration/kafka/test_broker_away.py",
    "integration/kafka/test_groups.py",
    "integration/kafka/test_faults.py",
    "integration/kafka/test_source.py",
    "integration/kafka/test_beginnings.py",
    "integration/kafka/test_security.py",
    "integration/kafka/",
    "river/test_checks.py",
    "integration/test_page.py",
    "checkpoint/test_forged.py",
    "tagging/test_twins.py",
    "service/test_label_page.py",
    "integration/test_warm.py",
)
"""Files and folders that take longest, so that no worker is left alone with one of them at the end.

Those of Kafka stand together: then each worker starts one broker, and stops it behind them.
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let parallel workers begin with the longest files."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: _place(item.path.relative_to(TESTS).as_posix()))


def _place(name: str) -> int:
    """The first of `LONG` that a file is, or is in."""
    return next((number for number, long in enumerate(LONG) if name.startswith(long)), len(LONG))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI nothing is missing, so a skipped test counts as failed."""
    report = yield
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
    return report


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real streams beside the checkout."""
    if not DATA.is_dir():
        missing(f"no real streams at {DATA}")
    return DATA


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs a distribution of one module, `third_party`, with entry points."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(entry_points: str, module: str) -> None:
        about = tmp_path / "third_party-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: third-party\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(dedent(entry_points))
        (tmp_path / "third_party.py").write_text(dedent(module))
        monkeypatch.delitem(sys.modules, "third_party", raising=False)

    return install


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium. While it is open, playwright runs an event loop in this thread."""
    path = program("chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()
