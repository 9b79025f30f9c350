"""How far a run is in its source: what is learned, not what was read."""

import gzip
import json
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from streamlin.config.loading import load_config
from streamlin.running.loop import Run
from streamlin.running.watching import RunView
from tests.silent import Silent

EVENTS = 3_000


class Told(Silent):
    """Keeps, at each update, the events so far, and the share of the source that is done."""

    def __init__(self) -> None:
        self.shares: list[tuple[int, float]] = []

    def update(self, run: RunView) -> None:
        done = run.done()
        assert done is not None
        self.shares.append((run.model.prequential.events, done[0] / done[1]))


@pytest.fixture(params=["plain", "compressed", "two files"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Less than a block of texts that do not compress evenly."""
    random = Random(5)
    texts = [" ".join(f"w{random.randrange(99)}" for _ in range(random.randrange(30))) for _ in range(EVENTS)]
    lines = [json.dumps({"text": text, "label": str(i % 3)}) + "\n" for i, text in enumerate(texts)]
    if request.param == "plain":
        found = tmp_path / "in.jsonl"
        found.write_text("".join(lines))
    elif request.param == "compressed":
        found = tmp_path / "in.jsonl.gz"
        found.write_bytes(gzip.compress("".join(lines).encode()))
    else:
        found = tmp_path / "in"
        found.mkdir()
        for name, own in (("1.jsonl", lines[: EVENTS // 3]), ("2.jsonl", lines[EVENTS // 3 :])):
            (found / name).write_text("".join(own))
    return found


def told(path: Path, limit: int | None = None, **flags: Any) -> list[tuple[int, float]]:
    config = load_config(flags={"source.url": str(path), "pipeline.batch_size": 100, **flags}, environment={})
    progress = Told()
    with closing(Run(config, progress, limit=limit)) as run:
        run.run()
    return progress.shares


def assert_are_as_events(shares: list[tuple[int, float]], begin: int) -> None:
    assert len({events for events, _ in shares}) > 5
    assert [share for _, share in shares[1:]] == pytest.approx([events / EVENTS for events, _ in shares[1:]], abs=0.05)
    assert shares[-1] == (EVENTS, 1.0)
    assert min(events for events, _ in shares) == begin


@pytest.mark.parametrize("threads", [1, 2])
def test_the_share_is_that_of_the_events(path: Path, threads: int) -> None:
    assert_are_as_events(told(path, **{"pipeline.threads": threads}), 0)


def test_a_resumed_run_goes_on_from_its_share(path: Path, tmp_path: Path) -> None:
    checkpoint = {"checkpoint.path": str(tmp_path / "state")}
    told(path, limit=EVENTS // 2, **checkpoint)
    assert_are_as_events(told(path, **checkpoint), EVENTS // 2)


def test_so_does_one_in_rounds_of_shards(path: Path) -> None:
    rounds = {"mixing.shards": 4, "mixing.floor": 100, "mixing.max_events": 400}
    assert_are_as_events(told(path, **rounds), 0)


def test_an_empty_file_is_done_at_once(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("\n")
    assert {share for _, share in told(path)} <= {0.0, 1.0}
