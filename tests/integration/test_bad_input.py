"""Bad input leads to dead letters or exit codes, never to a traceback or a lost record."""

import base64
import json
import shlex
import subprocess
import tempfile
from pathlib import Path

from tests.command_line import command_line, refused
from tests.integration.conftest import Reference
from tests.integration.processes import MODULE, finish, peak_of, start, until, with_less_rights, with_small_files
from tests.integration.streams import assert_same_state, content, json_lines, measured, write_lines

GOOD = b'{"text": "fine", "label": "x"}'

DEAD = {
    b"\xff\xfe": "not UTF-8",
    b'{"text": "caf\xe9"}': "not UTF-8",
    b"hello": "not JSON",
    b'{"text": "cut': "not JSON",
    b"[1, 2]": "expected a JSON object, got array",
    b'"text"': "expected a JSON object, got str",
    b'{"text": "a", "deep": ' + b"[" * 50_000 + b"]" * 50_000 + b"}": "nested too deeply",
    b'{"label": "x"}': "'text' is missing",
    b'{"text": null}': "text",
    b'{"text": 7}': "text is of type int",
    b'{"text": ["a"]}': "text is of type array",
    b'{"text": "a", "label": true}': "label is of type bool",
    b'{"text": "a", "label": {"is": "x"}}': "label is of type object",
    b'{"text": "a", "label": ["x"]}': "label is of type array",
    b'{"text": "a", "id": {}}': "id is of type object",
    b'{"text": "a", "weight": NaN}': "not JSON",
    b'{"text": "a", "weight": Infinity}': "not JSON",
    b'{"text": "a", "weight": 1e999}': "weight",
    b'{"text": "a", "weight": -0.5}': "weight is -0.5",
    b'{"text": "a", "weight": 1.7e308}': "weight is 1.7e+308, expected a number from 0 to 1e+09",
    b'{"text": "a", "weight": "1"}': "weight is of type str",
    b'{"text": "a", "time": "yesterday"}': "time is 'yesterday'",
    b'{"text": "a\0b"}': "not JSON",
    b'{"text": "\\ud800"}': "surrogate",
}

EVENTS = {
    b'{"text": "a", "label": 42}': "42",
    b'{"text": "a", "label": 1.5}': "1.5",
    b'{"text": "a", "label": ""}': None,
    b'{"text": "a", "label": null}': None,
    b'{"text": ""}': None,
    b'{"text": "a\\u0000b"}': None,
    b'{"text": "a\xe2\x80\xa8b"}': None,
    b'{"text": "a", "weight": 0, "label": "never learned"}': "never learned",
}


def test_every_record_is_an_event_or_a_dead_letter(tmp_path: Path) -> None:
    """A dead letter has the error, the position and the bytes; reading continues behind it."""
    lines = [line for pair in zip(DEAD, [*EVENTS, *[GOOD] * len(DEAD)], strict=False) for line in pair]
    stream = write_lines(tmp_path / "stream.jsonl", lines)
    report = tmp_path / "report.json"
    command_line(
        "run", stream, "--predictions", tmp_path / "out", "--dead-letters", tmp_path / "dead", "--report", report
    )
    letters = json_lines(tmp_path / "dead")
    for (line, error), letter in zip(DEAD.items(), letters, strict=True):
        assert error in letter["error"], letter
        offset = stream.read_bytes().index(b"\n" + line + b"\n") + 1 if line != lines[0] else 0
        assert letter["position"] == f"{stream}:{offset}"
        shown = letter["text"].encode() if "text" in letter else base64.b64decode(letter["base64"])
        assert shown == line[: 64 * 1024]
    predictions = json_lines(tmp_path / "out")
    assert [line.get("label") for line in predictions[: len(EVENTS)]] == list(EVENTS.values())
    assert measured(report)["events"] == len(predictions) == len(DEAD)
    assert measured(report)["dead_letters"] == len(letters)
    assert measured(report)["labels"] == ["42", "1.5", "x"]


def test_without_a_sink_five_dead_letters_are_shown(tmp_path: Path) -> None:
    stream = write_lines(tmp_path / "stream.jsonl", [b"bad", GOOD] * 7)
    done = command_line("run", stream)
    *shown, last = done.err.splitlines()
    assert last.startswith("streamlin: 7 of 14 records are dead letters, all of them: not JSON")
    assert len(shown) == 5
    assert all(line.startswith(f"streamlin: dead letter at {stream}:") for line in shown)
    assert "--dead-letters" in shown[-1]
    assert "7 dead letters" in done.out


def test_dead_letters_are_appended_to_an_existing_file(tmp_path: Path) -> None:
    """A run without a checkpoint keeps the file as it is, and begins a new line after a torn one."""
    stream = write_lines(tmp_path / "stream.jsonl", [b"bad", GOOD])
    (tmp_path / "dead").write_bytes(b'{"old": 1}\n{"tor')
    command_line("run", stream, "--dead-letters", tmp_path / "dead")
    old, torn, new = (tmp_path / "dead").read_bytes().splitlines()
    assert (old, torn) == (b'{"old": 1}', b'{"tor')
    assert json.loads(new)["text"] == "bad"


def test_empty_files_and_empty_lines_are_no_errors(tmp_path: Path) -> None:
    """An empty file is a stream without events; an empty line is skipped."""
    (tmp_path / "empty.jsonl").touch()
    lines = write_lines(tmp_path / "lines.jsonl", [b"", GOOD, b"", b"\r", GOOD, b""])
    empty = command_line("run", tmp_path / "empty.jsonl", "--predictions", "-", "--checkpoint", tmp_path / "state")
    sparse = command_line("run", lines)
    assert empty.out == ""
    assert empty.err.startswith("0 events · 0 labels · 0 dead letters")
    assert "naive_bayes" in empty.err
    assert sparse.out.startswith("2 events · 1 label · 0 dead letters")
    assert command_line("inspect", tmp_path / "state", "--json").lines[0]["events"] == 0


def test_a_record_of_100_megabytes_is_a_dead_letter(tmp_path: Path) -> None:
    """The dead letter shows its beginning; memory stays as low as with small records."""
    stream = tmp_path / "stream.jsonl"
    with stream.open("wb") as file:
        file.write(GOOD + b'\n{"text": "')
        for _ in range(100):
            file.write(b"word " * 200_000)
        file.write(b'"}\n' + GOOD + b"\n")
    done, peak = peak_of("run", stream, "--dead-letters", tmp_path / "dead", "--predictions", tmp_path / "out")
    assert done.code == 0
    assert done.err.startswith("streamlin: 1 of 3 records are dead letters, all of them: record of … bytes is over")
    (letter,) = json_lines(tmp_path / "dead")
    assert "100000012 bytes" in letter["error"]
    assert "max_record_bytes" in letter["error"]
    assert letter["position"] == f"{stream}:{len(GOOD) + 1}"
    assert letter["truncated"] is True
    assert letter["text"].startswith('{"text": "word word')
    assert len(letter["text"]) == 64 * 1024
    assert len(json_lines(tmp_path / "out")) == 2
    assert peak < 400


def too_many_dead_letters(folder: Path, batch_size: int) -> None:
    """Two runs over a stream with one such row: the first stops there, the second continues behind it."""
    folder.mkdir()
    stream = write_lines(folder / "stream.jsonl", [*[GOOD] * 20, *[b"bad"] * 4, GOOD, *[b"bad"] * 8, GOOD])
    out, dead, report = (folder / name for name in ("out", "dead", "report"))
    arguments = (
        *("run", stream, "--predictions", out, "--dead-letters", dead, "--checkpoint", folder / "state"),
        *("--report", report, "--learner", "perceptron", "--set", f"pipeline.batch_size={batch_size}"),
        *("--set", "pipeline.max_consecutive_dead_letters=5"),
    )
    line = refused(*arguments, code=3)
    fifth = stream.read_bytes().rindex(GOOD) - 4 * len(b"bad\n")
    assert f"5 records in a row could not be read, the last at {stream}:{fifth}" in line
    assert "not JSON" in line
    assert len(json_lines(out)) == 21 == measured(report)["events"]
    assert len(json_lines(dead)) == 9 == measured(report)["dead_letters"]
    command_line(*arguments)
    assert len(json_lines(out)) == 22 == measured(report)["events"]
    assert len(json_lines(dead)) == 12 == measured(report)["dead_letters"]


def test_enormous_weights_spoil_no_accuracy(tmp_path: Path) -> None:
    """Two weights of 1.7e308 would make every later sum infinite; those of 1e9 are counted."""
    for name, weight in (("refused", 1.7e308), ("counted", 1e9)):
        events = [{"text": f"word {i % 2}", "label": f"l{i % 2}"} for i in range(40)]
        for event in events[30:32]:
            event["weight"] = weight
        report = tmp_path / f"{name}.json"
        command_line("run", write_lines(tmp_path / "in.jsonl", events), "--report", report)
        found = measured(report)
        assert found["dead_letters"] == (2 if name == "refused" else 0)
        for row in found["learners"].values():
            assert 0.4 < row["accuracy"] <= 1.0
            assert 0.4 < row["fading_accuracy"] <= 1.0


def test_too_many_dead_letters_in_a_row_end_the_run(tmp_path: Path) -> None:
    """Exit code 3 after the n-th; whatever the batch size, earlier events are written and in the checkpoint."""
    for size in (7, 1000):
        too_many_dead_letters(tmp_path / str(size), size)


def test_a_new_label_with_each_event_ends_the_run(tmp_path: Path) -> None:
    """The run ends before memory does; with a higher limit it can be resumed."""
    events = [{"text": "a b", "label": f"n{i}"} for i in range(60)]
    stream, out = write_lines(tmp_path / "stream.jsonl", events), tmp_path / "out"
    arguments = (
        *("run", stream, "--predictions", out, "--checkpoint", tmp_path / "state", "--learner", "perceptron"),
        *("--set", "pipeline.batch_size=20"),
    )
    line = refused(*arguments, "--set", "pipeline.max_labels=50")
    assert "pipeline.max_labels: found more than 50 labels" in line
    assert "if fields.label = 'label' is the label, raise the limit" in line
    assert len(json_lines(out)) == 50
    command_line(*arguments, "--set", "pipeline.max_labels=60")
    assert len(json_lines(out)) == 60


def test_a_file_that_vanishes_ends_the_run(tmp_path: Path) -> None:
    """Exit code 3 names the file; earlier files are written and in the checkpoint."""
    for name in ("1.jsonl", "2.jsonl"):
        write_lines(tmp_path / name, [GOOD] * 20)
    places = ("--predictions", tmp_path / "out", "--checkpoint", tmp_path / "state")
    process = start("run", f"{tmp_path}/*.jsonl?rate=8", *places, "--set", "pipeline.threads=1")
    until(lambda: (tmp_path / "out").exists() and (tmp_path / "out").stat().st_size, process)
    (tmp_path / "2.jsonl").unlink()
    done = finish(process)
    assert (done.code, done.err) == (3, f"streamlin: {tmp_path}/2.jsonl can't be read: No such file or directory\n")
    assert len(json_lines(tmp_path / "out")) == 20
    write_lines(tmp_path / "2.jsonl", [GOOD] * 3)
    command_line("run", f"{tmp_path}/*.jsonl", *places)
    assert len(json_lines(tmp_path / "out")) == 23


def test_a_full_disk_loses_nothing(reference: Reference, tmp_path: Path) -> None:
    """Exit code 3 if predictions or the checkpoint do not fit; with room again, a resumed run is complete."""
    arguments = (
        *("run", reference.stream, "--predictions", tmp_path / "out", "--dead-letters", tmp_path / "dead"),
        *("--checkpoint", tmp_path / "state", "--report", tmp_path / "report", "--set", "pipeline.batch_size=50"),
    )
    alone = ("--set", "pipeline.threads=1")  # else learning may be some batches ahead of writing
    done = with_small_files(260_000, *arguments, *alone, code=3)  # an empty checkpoint takes 250,000
    assert done.err == f"streamlin: {tmp_path / 'out'} can't be written to: File too large\n"
    assert (tmp_path / "out").stat().st_size == 260_000
    assert 0 < measured(tmp_path / "report")["events"] < reference.events
    done = with_small_files(700_000, *arguments, "--set", "checkpoint.every_events=100", code=3)
    assert done.err == f"streamlin: can't write the checkpoint in {tmp_path / 'state'}: File too large\n"
    assert 100 <= command_line("inspect", tmp_path / "state", "--json").lines[0]["events"] < reference.events
    command_line(*arguments)
    assert content(tmp_path / "out") == content(reference.predictions)
    assert content(tmp_path / "dead") == content(reference.dead_letters)
    assert_same_state(tmp_path / "state", reference.checkpoint)


def test_no_space_for_dead_letters_ends_the_run(reference: Reference) -> None:
    line = refused("run", reference.stream, "--dead-letters", "/dev/full", code=3)
    assert line == "/dev/full can't be written to: No space left on device"


def test_denied_permission_is_found_before_the_first_event(reference: Reference, tmp_path: Path) -> None:
    """Exit code 3 for sources, sinks and checkpoints to write, 2 for the report, 4 for a checkpoint to read."""
    stream, locked = write_lines(tmp_path / "stream.jsonl", [GOOD]), tmp_path / "locked"
    write_lines(tmp_path / "secret.jsonl", [GOOD]).chmod(0)
    write_lines(tmp_path / "out", [b"{}"]).chmod(0o400)
    locked.mkdir(0)
    cases = {
        "run secret.jsonl": (3, "secret.jsonl can't be read: Permission denied"),
        "run secret.jsonl --follow": (3, "secret.jsonl can't be read: Permission denied"),
        "run locked/stream.jsonl": (3, "locked/stream.jsonl can't be read: Permission denied"),
        "run stream.jsonl --predictions out?mode=append": (3, "out can't be written to: Permission denied"),
        "run stream.jsonl --predictions locked/out": (3, "locked/out can't be written to: Permission denied"),
        "run stream.jsonl --checkpoint locked/state": (3, "checkpoint in locked/state: Permission denied"),
        "run stream.jsonl --report locked/report": (2, "--report locked/report: can't be written: Permission denied"),
        "predict locked stream.jsonl": (4, "locked/checkpoint.safetensors: Permission denied"),
    }
    lines = with_less_rights(*(case.split() for case in cases), cwd=tmp_path)
    for (code, says), (ended, line) in zip(cases.values(), lines, strict=True):
        assert ended == code
        assert says in line
    assert content(stream) == GOOD + b"\n"


def test_a_closed_pipe_ends_predict_quietly(reference: Reference) -> None:
    """`streamlin predict … | head -1` ends quietly."""
    command = shlex.join([*MODULE, "predict", str(reference.checkpoint), str(reference.stream)])
    with tempfile.TemporaryFile("w+") as err:
        script = f"{command} | head -1; echo ${{PIPESTATUS[0]}}"
        shown = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, stderr=err, text=True).stdout
        line, code = shown.splitlines()
        err.seek(0)
        assert (json.loads(line)["predicted"], code, err.read()) == ("ham", "3", "")
