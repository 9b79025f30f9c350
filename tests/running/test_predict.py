"""`predict` reads ahead."""

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from streamlin.errors import ConnectorError
from streamlin.events import Batch
from streamlin.model import Features, Model
from streamlin.running.predict import predict
from tests.command_line import command_line
from tests.integration.streams import json_lines, write_lines

EVENTS = 20_000
Predict = Callable[[Path, threading.Event], int]


@pytest.fixture
def predicting(tmp_path: Path) -> Predict:
    """Predicts a file with a model, into `out.jsonl`."""
    learned = write_lines(tmp_path / "few.jsonl", [{"text": f"w{i % 7}", "label": str(i % 7 > 3)} for i in range(100)])
    command_line("run", learned, "--learner", "perceptron", "--checkpoint", tmp_path / "state")

    def call(stream: Path, stop: threading.Event) -> int:
        out = str(tmp_path / "out.jsonl")
        return predict(str(tmp_path / "state"), str(stream), out, None, None, lambda line: None, stop)

    return call


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "in.jsonl", [{"id": i, "text": f"w{i % 7}"} for i in range(EVENTS)])


def test_lines_are_in_order_and_found_beside_predicting(
    predicting: Predict, stream: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, featurize = set[str](), Model.featurize

    def noted(model: Model, batch: Batch) -> Features:
        seen.add(threading.current_thread().name)
        return featurize(model, batch)

    monkeypatch.setattr(Model, "featurize", noted)
    assert predicting(stream, threading.Event()) == 0
    lines = json_lines(tmp_path / "out.jsonl")
    assert [line["id"] for line in lines] == [str(i) for i in range(EVENTS)]
    assert [line["predicted"] for line in lines] == [str(i % 7 > 3) for i in range(EVENTS)]
    assert seen == {"streamlin-reader"}
    assert "streamlin-reader" not in {thread.name for thread in threading.enumerate()}


def test_an_error_comes_after_what_was_read_before(predicting: Predict, stream: Path, tmp_path: Path) -> None:
    with stream.open("a") as file:
        file.write("no JSON\n" * 1000 + json.dumps({"text": "not reached"}) + "\n")
    with pytest.raises(ConnectorError, match="1000 records in a row"):
        predicting(stream, threading.Event())
    assert len(json_lines(tmp_path / "out.jsonl")) == EVENTS
    assert "streamlin-reader" not in {thread.name for thread in threading.enumerate()}


def test_a_stop_ends_it(predicting: Predict, stream: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop, featurize = threading.Event(), Model.featurize

    def stopping(model: Model, batch: Batch) -> Features:
        if int(str(batch.ids[0])) > EVENTS / 2:
            stop.set()
        return featurize(model, batch)

    monkeypatch.setattr(Model, "featurize", stopping)
    predicting(stream, stop)
    ids = [line["id"] for line in json_lines(tmp_path / "out.jsonl")]
    assert ids == [str(i) for i in range(len(ids))]
    assert 0 < len(ids) < EVENTS
    assert "streamlin-reader" not in {thread.name for thread in threading.enumerate()}
