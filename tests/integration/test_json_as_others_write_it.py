"""JSON that is not one object a line: what the run says, and how it ends."""

import json
from pathlib import Path

import pytest

from tests.command_line import command_line

EVENTS = [{"text": f"event {i}", "label": "xy"[i % 2], "tags": ["a", {"b": None}]} for i in range(40)]
SEVERAL = "of them: a part of JSON that has several lines; write each object on one line, for instance by jq -c ."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (json.dumps(EVENTS), "all of them: expected a JSON object, got array; write each object of the array on one"),
        (json.dumps(EVENTS, indent=2), SEVERAL),
        ("\n".join(json.dumps(event, indent="\t") for event in EVENTS), SEVERAL),
        ("".join(json.dumps(json.dumps(event)) + "\n" for event in EVENTS), "encoded twice, as a text; decode it once"),
    ],
)
def test_json_that_is_not_one_object_a_line_is_named(tmp_path: Path, text: str, said: str) -> None:
    """Exit 3, whether it is short or so long that the limit of dead letters in a row ends the run."""
    stream = tmp_path / "a.jsonl"
    stream.write_text(text)
    assert said in command_line("run", stream, code=3).err
    assert (
        said.partition("; ")[2]
        in command_line(*("run", stream, "--set", "pipeline.max_consecutive_dead_letters=1"), code=3).err
    )
    state = tmp_path / "state"
    (tmp_path / "good.jsonl").write_text(json.dumps(EVENTS[0]))
    command_line("run", tmp_path / "good.jsonl", "--checkpoint", state)
    assert said in command_line("predict", state, stream, code=3).err
    assert said in command_line("produce", stream, tmp_path / "out").err  # JSON records are sent as they are


def test_an_array_of_an_object_a_line_has_one_event(tmp_path: Path) -> None:
    """Its last object, which no comma follows; the line about dead letters says what the others are."""
    stream = tmp_path / "a.jsonl"
    stream.write_text("[\n" + ",\n".join(map(json.dumps, EVENTS)) + "\n]\n")
    done = command_line("run", stream)
    assert f"41 of 42 records are dead letters, all {SEVERAL}" in done.err
    assert "1 event " in done.out
