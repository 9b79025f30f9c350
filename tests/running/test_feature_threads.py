"""Features that are found by several threads at a time."""

import json
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from streamlin.config.loading import load_config
from streamlin.errors import ConnectorError
from streamlin.events import Batch
from streamlin.model import Features
from streamlin.running.loop import Run
from tests.silent import Silent

DEADLINE = 20.0
FULL = 100


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Batch], None]], Run]:
    """A run with four threads, of 30 full batches; called with what is to happen before features are found."""
    path = tmp_path / "in.jsonl"
    lines = [json.dumps({"text": f"the {i}th text", "label": str(i % 2)}) + "\n" for i in range(30 * FULL)]
    path.write_text("".join(lines))
    settings = (f"pipeline.batch_size={FULL}", "pipeline.threads=4")

    def new(before: Callable[[Batch], None]) -> Run:
        made = Run(load_config(None, {"source.url": str(path)}, settings, ["perceptron"]), Silent())
        featurize = made.model.featurize

        def after(batch: Batch) -> Features:
            before(batch)
            return featurize(batch)

        monkeypatch.setattr(made.model, "featurize", after)
        return made

    return new


def feature_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("streamlin-features")]


def _wait(together: threading.Barrier) -> None:
    """Wait until as many threads are here; raises if they do not come."""
    together.wait(DEADLINE)


def test_several_batches_are_dealt_with_at_the_same_time(run: Callable[[Callable[[Batch], None]], Run]) -> None:
    together = threading.Barrier(3)
    with closing(run(lambda batch: _wait(together))) as made:
        assert made.run()["events"] == 30 * FULL
    assert not feature_threads()


def test_an_error_comes_when_it_is_the_batches_turn(run: Callable[[Callable[[Batch], None]], Run]) -> None:
    """All before is learned, and nothing else, though a later batch is begun first."""
    later = threading.Event()

    def failing(batch: Batch) -> None:
        first = int(batch.texts[0].split()[1].removesuffix("th"))
        if first == 5 * FULL:
            assert later.wait(DEADLINE)
            raise ConnectorError("of the sixth batch")
        if first > 5 * FULL:
            later.set()

    with closing(run(failing)) as made:
        with pytest.raises(ConnectorError, match="of the sixth batch"):
            made.run()
        assert made.model.prequential.events == 5 * FULL
    assert not feature_threads()


def test_a_stop_ends_the_threads(run: Callable[[Callable[[Batch], None]], Run]) -> None:
    with closing(run(lambda batch: None)) as made:
        steps = made.steps()
        next(steps)
        steps.close()
        assert made.model.prequential.events == FULL
    assert not feature_threads()
