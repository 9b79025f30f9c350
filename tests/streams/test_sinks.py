"""Where predictions and dead letters go."""

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlin.errors import ConfigError, ConnectorError, UnknownScheme
from streamlin.events import DeadLetter, Records, single_records
from streamlin.streams.sinks import DEAD_LETTER_BYTES, Sinks, dead_letter_line

LONG = DEAD_LETTER_BYTES


def line_of(payload: bytes, error: str = "wrong", errors: dict[int, str] | None = None) -> dict[str, Any]:
    """The dead letter of a record between two others."""
    records = single_records([b"before", payload, b"after"], "in.jsonl")
    records.errors = errors or {}
    line = dead_letter_line(DeadLetter(1, error), records)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    found: dict[str, Any] = json.loads(line)
    return found


def test_a_dead_letter_has_error_position_and_text() -> None:
    records = single_records([b'{"text": 1}'], "in.jsonl")
    line = dead_letter_line(DeadLetter(0, "text: a number, needs a text"), records)
    assert json.loads(line) == {
        "error": "text: a number, needs a text",
        "position": "in.jsonl:0",
        "text": '{"text": 1}',
    }


@given(st.binary(max_size=50))
def test_any_record_can_be_recovered_from_its_dead_letter(payload: bytes) -> None:
    line = line_of(payload)
    assert (line["error"], line["position"]) == ("wrong", "in.jsonl:7")
    assert list(line) in (["error", "position", "text"], ["error", "position", "base64"])
    if "text" in line:
        assert line["text"].encode() == payload
    else:
        assert base64.b64decode(line["base64"]) == payload
        with pytest.raises(UnicodeDecodeError):
            payload.decode()


def test_records_are_cut_to_64_kib() -> None:
    assert line_of(b"x" * LONG) == {"error": "wrong", "position": "in.jsonl:7", "text": "x" * LONG}
    assert line_of(b"x" * (LONG + 1)) == line_of(b"x" * LONG) | {"truncated": True}


@pytest.mark.parametrize("character", ["é", "日", "😀"])
def test_a_cut_does_not_break_a_character(character: str) -> None:
    """The whole character is left out, however many of its bytes are after the cut."""
    width = len(character.encode())
    for behind in range(1, width + 1):
        before = LONG - (width - behind)
        line = line_of(b"x" * before + character.encode() * 3)
        assert line["text"] == "x" * before, behind
        assert line["truncated"] is True


def test_invalid_utf8_before_the_cut_becomes_base64() -> None:
    for bad in (b"\xff", b"\xc3", b"\xed\xa0\x80"):
        payload = bad + b"x" * LONG
        line = line_of(payload)
        assert base64.b64decode(line["base64"]) == payload[:LONG]
        assert line["truncated"] is True
    line = line_of(b"x" * (LONG - 1) + b"\xff" + b"x")
    assert base64.b64decode(line["base64"]) == b"x" * (LONG - 1) + b"\xff"


def test_an_unfinished_character_in_an_uncut_record_becomes_base64() -> None:
    assert base64.b64decode(line_of(b"caf\xc3")["base64"]) == b"caf\xc3"


def test_a_record_cut_by_its_source_is_marked_truncated() -> None:
    """A source hands over only the first 64 KiB of a record that is too long, with an error."""
    line = line_of(b"x" * (LONG - 1) + "é".encode()[:1], "too long", {1: "too long"})
    assert (line["text"], line["truncated"]) == ("x" * (LONG - 1), True)
    assert "truncated" not in line_of(b"short", "cut off", {1: "cut off"})


def test_a_file_name_that_is_not_utf8_is_escaped() -> None:
    line = dead_letter_line(DeadLetter(0, "wrong"), single_records([b"x"], "caf\udce9.txt"))
    assert json.loads(line)["position"] == "caf\\xe9.txt:0"


class Notices(list[str]):
    """The lines shown to the user."""

    __call__ = list.append


def letters(n: int) -> tuple[list[DeadLetter], Records]:
    return [DeadLetter(i, f"error {i}") for i in range(n)], single_records([b"x"] * n, "in")


def test_without_a_sink_five_dead_letters_are_shown() -> None:
    notices = Notices()
    outputs = Sinks(None, None, {}, notices)
    for n in (0, 2, 2, 4, 3):
        outputs.write_dead(*letters(n))
    *first, last = notices
    assert first == [f"dead letter at in:{2 * i}: error {i}" for i in (0, 1, 0, 1)]
    assert last.startswith("dead letter at in:0: error 0; ")
    assert "--dead-letters" in last
    assert not outputs.new
    assert outputs.sync({}) == {}
    outputs.close()


def test_with_a_sink_dead_letters_are_written_not_shown(tmp_path: Path) -> None:
    notices, path = Notices(), tmp_path / "dead.jsonl"
    path.write_bytes(b"from an earlier run\n")
    outputs = Sinks(None, str(path), {}, notices)
    for n in (0, 7, 3):
        outputs.write_dead(*letters(n))
    outputs.flush()
    first, *rows = path.read_bytes().splitlines()
    assert first == b"from an earlier run"
    assert [json.loads(row)["error"] for row in rows] == [f"error {i}" for n in (7, 3) for i in range(n)]
    assert notices == []
    outputs.close()


def test_predictions_never_overwrite_a_file_by_default(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"precious\n")
    with pytest.raises(ConfigError, match=r"mode=append.*mode=overwrite"):
        Sinks(str(path), None, {}, print)
    assert path.read_bytes() == b"precious\n"


def test_a_resume_truncates_sinks_to_the_checkpoint(tmp_path: Path) -> None:
    predictions, dead = tmp_path / "out.jsonl", tmp_path / "dead.jsonl"
    outputs = Sinks(str(predictions), str(dead), {}, print)
    assert outputs.new
    assert outputs.predictions is not None
    outputs.predictions.sink.write(b"one\n")
    outputs.write_dead(*letters(1))
    lengths = outputs.sync({})
    outputs.predictions.sink.write(b"two\n")
    outputs.write_dead(*letters(4))
    outputs.close()
    known = dead.read_bytes().splitlines()[0]
    again = Sinks(os.path.relpath(predictions), f"file://{dead}", lengths, print)
    assert not again.new
    again.close()
    assert predictions.read_bytes() == b"one\n"
    assert dead.read_bytes() == known + b"\n"


def test_a_sink_not_in_the_checkpoint_is_new(tmp_path: Path) -> None:
    outputs = Sinks(str(tmp_path / "other.jsonl"), None, {f"file:{tmp_path}/out.jsonl": 4}, print)
    assert outputs.new
    outputs.close()


def test_one_device_for_both_sinks_is_allowed(tmp_path: Path) -> None:
    for both in (os.devnull, "null://"):
        outputs = Sinks(both, both, {}, print)
        outputs.write_dead(*letters(2))
        assert set(outputs.sync({}).values()) == {None}
        outputs.close()


def test_the_first_sink_is_closed_if_the_second_fails(tmp_path: Path) -> None:
    before = set(os.listdir("/proc/self/fd"))
    with pytest.raises(ConnectorError, match="nowhere"):
        Sinks(str(tmp_path / "out.jsonl"), str(tmp_path / "nowhere" / "dead.jsonl"), {}, print)
    assert set(os.listdir("/proc/self/fd")) == before


def test_an_unknown_scheme_suggests_the_nearest() -> None:
    with pytest.raises(UnknownScheme, match=r"'fiel://' among the sinks; did you mean 'file'"):
        Sinks("fiel:///tmp/x", None, {}, print)
