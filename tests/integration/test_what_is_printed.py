"""Nothing that comes from a stream, a name or a file steers the terminal that it is printed on."""

import json
import re
from pathlib import Path

import pytest

from tests.command_line import Done, command_line
from tests.integration.streams import json_lines, write_lines
from tests.integration.test_terminal import ESCAPES, shown_on_a_terminal

HOSTILE = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202eevil\u2066\x7f\r\nstreamlin: all is well\x00\u2028"
NAME = "\x1b[31m\u202ered\x9b2J\nstreamlin: fine.jsonl"
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def harmless(done: Done) -> Done:
    """The output, checked; every line of standard error is streamlin's own."""
    assert STEERING.findall(done.out + done.err) == []
    assert "streamlin: all is well" not in [line[:22] for line in (done.out + done.err).splitlines()]
    assert all(line.startswith(("streamlin: ", "{")) and line[11:] != "fine.jsonl" for line in done.err.splitlines())
    return done


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    """Labels, ids, slices and texts that steer a terminal, and records that can't be read."""
    texts = [f"{HOSTILE} {number}" for number in range(6)]
    events = [
        {"text": text, "label": f"{HOSTILE}{i % 2}", "id": HOSTILE, "part": f"{HOSTILE}{i}"}
        for i, text in enumerate(texts)
    ]
    events.append({"text": "a", "label": f"{HOSTILE}0\u200b"})  # differs only by an invisible character
    return write_lines(tmp_path / NAME, [*events, HOSTILE.replace("\n", "").encode(), {"text": "a", "time": HOSTILE}])


def test_hostile_labels_and_names_are_masked_everywhere(stream: Path, tmp_path: Path) -> None:
    run = ("run", stream, "--slice-by", "part", "--checkpoint", tmp_path / "state", "--set", "features.names=100")
    done = harmless(command_line(*run))
    assert "dead letter at " in done.err
    assert "streamlin: labels '" in done.err
    assert "�" in done.out
    assert "�" in done.err
    assert "�" in harmless(command_line("inspect", tmp_path / "state")).out
    harmless(command_line("explain", tmp_path / "state", HOSTILE.replace("\0", "")))
    (found,) = harmless(command_line("inspect", tmp_path / "state", "--json")).lines
    assert list(found["labels"])[:2] == [f"{HOSTILE}0", f"{HOSTILE}1"]
    (found,) = harmless(command_line("explain", tmp_path / "state", "a", "--json")).lines
    harmless(command_line("run", tmp_path / f"{NAME}.gone", code=3))
    harmless(command_line("run", stream, "--set", f"sources.{NAME}=1", code=2))
    harmless(command_line("run", stream, "--learner", NAME, code=2))
    harmless(command_line(NAME, code=2))
    error = harmless(command_line("run", stream, "--log-format", "json", "--set", "pipeline.max_labels=1", code=2))
    assert json.loads(error.err.splitlines()[-1])["message"].startswith("pipeline.max_labels")


def test_predictions_on_a_terminal_are_masked_and_keep_their_values(stream: Path, tmp_path: Path) -> None:
    """The same lines as in a file, with escapes; colours and the cursor are streamlin's own."""
    arguments = ("run", stream, "--learner", "perceptron")
    command_line(*arguments, "--predictions", tmp_path / "out.jsonl")
    code, drawn = shown_on_a_terminal(*arguments, "--predictions", "-")
    assert code == 0
    shown = ESCAPES.sub("", drawn).replace("\r\n", "\n").replace("\r", "")
    assert STEERING.findall(shown) == []
    assert "\x1b]0" not in drawn
    lines = [json.loads(line[line.index('{"') :]) for line in shown.splitlines() if '{"' in line]
    assert lines == json_lines(tmp_path / "out.jsonl")


def test_inspect_shows_whole_texts_where_no_terminal_limits_them(tmp_path: Path) -> None:
    folder = tmp_path / ("deep" * 40) / ("deeper" * 30)
    folder.mkdir(parents=True)
    label, learner = "label" * 50, "learner" * 30
    stream = write_lines(folder / "in.jsonl", [{"text": "a", "label": label}, {"text": "b", "label": "x"}])
    named = f"learners=[{{kind = 'perceptron', name = '{learner}'}}, {{kind = 'naive_bayes'}}]"
    command_line("run", stream, "--checkpoint", tmp_path / "state", "--set", named)
    shown = command_line("inspect", tmp_path / "state").out
    for text in (str(stream), label, learner):
        assert any(text in line.split() or text in line for line in shown.splitlines()), text
    assert "…" not in shown
    code, drawn = shown_on_a_terminal("inspect", tmp_path / "state")
    assert code == 0
    assert max(len(line) for line in ESCAPES.sub("", drawn).splitlines()) <= 100
