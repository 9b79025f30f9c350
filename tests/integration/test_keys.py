"""Models per key in processes of their own: killed and resumed, inspected, explained, asked, measured."""

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import command_line, refused
from tests.integration.processes import kill, start, until
from tests.integration.streams import assert_same_state, json_lines, measured, real_events, write_lines
from tests.service.served import served

KEYS = ("--set", "keys.per=customer", "--set", "keys.max_keys=6")
LEARNERS = ("--learner", "naive_bayes", "--learner", "logistic_regression")
SMALL = ("--set", "pipeline.batch_size=20", "--set", "checkpoint.every_events=50")


def swapped(data: Path, n: int) -> list[dict[str, Any]]:
    """Messages of nine customers, most of the first two; every other customer calls spam ham, and ham spam."""
    events = real_events(data / "sms-spam.jsonl.gz", n)
    for number, event in enumerate(events):
        customer = number % 3 if number % 3 < 2 else 2 + number % 7
        event["customer"] = f"c{customer}"
        if customer % 2:
            event["label"] = {"ham": "spam", "spam": "ham"}[event["label"]]
        if number % 19 == 4:
            del event["customer"]
    return events


class Whole:
    """A run that nothing interrupts, and its files."""

    def __init__(self, data: Path, folder: Path) -> None:
        self.events = swapped(data, 1000)
        self.stream = write_lines(folder / "in.jsonl", self.events[:900])
        self.state, self.report, self.predictions = folder / "state", folder / "report.json", folder / "out.jsonl"
        self.page = folder / "report.html"
        self.summary = command_line("run", self.stream, *self.arguments(folder), "--report", self.page).out

    @staticmethod
    def arguments(folder: Path) -> tuple[object, ...]:
        written = "--report", folder / "report.json", "--predictions", folder / "out.jsonl"
        return *KEYS, *LEARNERS, *SMALL, "--checkpoint", folder / "state", *written


@pytest.fixture(scope="module")
def whole(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    return Whole(data, tmp_path_factory.mktemp("whole"))


def test_a_killed_run_goes_on(whole: Whole, tmp_path: Path) -> None:
    """Twice, while keys are dropped: predictions, report and every array are those of the whole run."""
    out = tmp_path / "out.jsonl"
    for wanted in (20_000, 50_000):
        process = start("run", f"{whole.stream}?rate=600", *whole.arguments(tmp_path))
        until(partial(is_longer, out, wanted), process)
        kill(process)
    command_line("run", whole.stream, *whole.arguments(tmp_path))
    assert out.read_bytes() == whole.predictions.read_bytes()
    report = measured(tmp_path / "report.json")
    assert report == measured(whole.report)
    assert_same_state(tmp_path / "state", whole.state, places=False)
    assert report["keys"]["dropped"] > 10


def is_longer(path: Path, size: int) -> bool:
    return path.exists() and path.stat().st_size > size


def test_what_is_told_of_keys(whole: Whole) -> None:
    """By the summary, the page and `inspect`."""
    report = measured(whole.report)["keys"]
    line = f"6 keys (customer) · {report['dropped']:,} dropped (keys.max_keys = 6) · {report['without_key']} events"
    assert line in whole.summary
    assert f"{line} without a key" in command_line("inspect", whole.state).out
    assert json.loads(command_line("inspect", whole.state, "--json").out)["keys"] == report
    assert "customer, worst keys" in whole.page.read_text()
    row = report["learners"]["naive_bayes"]
    assert row["accuracy"] > row["shared"] + 0.1
    assert report["worst"][0]["learners"].keys() == {"naive_bayes", "logistic_regression"}
    with_key = {event["id"] for event in whole.events if "customer" in event}
    lines = [line for line in json_lines(whole.predictions) if line["id"] in with_key]
    hits = [line["learners"]["naive_bayes"] == line["label"] for line in lines]
    assert row["accuracy"] == pytest.approx(sum(hits) / len(hits))


def test_predict_explain_and_serve_use_the_model_of_the_key(whole: Whole, tmp_path: Path) -> None:
    """The next event is predicted as a resumed run predicts it; the same text differs by customer."""
    shutil.copytree(whole.state, tmp_path / "state")
    stream = write_lines(tmp_path / "later.jsonl", whole.events[900:])
    predicted = command_line("predict", tmp_path / "state", stream, "--limit", 1)
    going_on = "--checkpoint", tmp_path / "state", "--predictions", "-", "--limit", 1
    resumed = command_line("run", stream, *KEYS, *LEARNERS, *going_on)
    assert predicted.out == resumed.out
    text = "WINNER!! You have won a prize, call now to claim your cash"
    asked = [{"text": text, "customer": customer} for customer in ("c0", "c1", "nobody")]
    lines = command_line("predict", whole.state, write_lines(tmp_path / "asked.jsonl", asked)).lines
    told = command_line("explain", whole.state, "--events", "--json", *map(json.dumps, asked)).lines
    assert [line["predicted"] for line in lines] == [one["predicted"] for one in told]
    assert [line["learners"]["naive_bayes"] for line in lines][:2] == ["spam", "ham"]
    shutil.copytree(whole.state, tmp_path / "served")
    with served(tmp_path / "served", *KEYS, *LEARNERS) as service:
        bodies = [{"text": text, "fields": {"customer": one["customer"]}} for one in asked]
        answers = service.post("/predict", bodies).value
    assert [answer["learners"] for answer in answers] == [line["learners"] for line in lines]
    without = refused("run", stream, *LEARNERS, "--checkpoint", whole.state, code=4)
    assert 'keys: {"per": "customer", "max_keys": 6, "shared": true} in the checkpoint, null now' in without
    wider = *KEYS, "--set", "keys.max_keys=7"
    other = refused("run", stream, *wider, *LEARNERS, "--checkpoint", whole.state, code=4)
    assert "keys.max_keys: 6 in the checkpoint, 7 now" in other
