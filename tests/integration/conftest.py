"""A long run that many tests compare theirs with."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.integration.processes import kill_what_is_left, streamlin
from tests.integration.streams import real_events, roughened, write_lines


class Reference(NamedTuple):
    """A stream, and the files that an uninterrupted run over it has written."""

    stream: Path
    records: int
    events: int
    predictions: Path
    dead_letters: Path
    report: Path
    checkpoint: Path


@pytest.fixture(autouse=True)
def _nothing_is_left_running() -> Iterator[None]:
    yield
    kill_what_is_left()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for files that tests share."""
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(scope="session")
def sms(data: Path, folder: Path) -> Path:
    """1,200 real messages, `roughened`."""
    return write_lines(folder / "sms.jsonl", roughened(real_events(data / "sms-spam.jsonl.gz", 1200)))


@pytest.fixture(scope="session")
def reference(sms: Path, folder: Path) -> Reference:
    """An uninterrupted run over `sms`."""
    places = [folder / name for name in ("predictions.jsonl", "dead.jsonl", "report.json", "state")]
    predictions, dead_letters, report, checkpoint = places
    streamlin(
        *("run", sms, "--predictions", predictions, "--dead-letters", dead_letters),
        *("--report", report, "--checkpoint", checkpoint),
    )
    return Reference(sms, sms.read_bytes().count(b"\n"), 1200, *places)
