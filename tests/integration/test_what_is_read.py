"""What a run says of input that it can't read, or only in part; and which files of a folder it reads."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from streamlin import Pipeline
from streamlin.errors import ConnectorError
from tests.command_line import command_line, refused
from tests.integration.processes import ended_with_less_rights, streamlin
from tests.integration.streams import write_lines

GOOD = {"text": "fine day", "label": "x"}
DELETED = {"deleted": True, "label": "x"}
LIMIT = "pipeline.max_consecutive_dead_letters"


def report_of(*arguments: object, folder: Path, code: int = 0) -> tuple[dict[str, Any], str]:
    """The report and the standard error of a run."""
    done = command_line("run", *arguments, "--report", folder / "report.json", code=code)
    return json.loads((folder / "report.json").read_text()), done.err


def test_a_source_without_an_event_ends_with_exit_3(tmp_path: Path) -> None:
    bad = write_lines(tmp_path / "bad.jsonl", [b"one", b"two", DELETED])
    report, told = report_of(bad, "--dead-letters", tmp_path / "dead", folder=tmp_path, code=3)
    assert "could be read: all 3 records are dead letters, 2 of them: not JSON" in told
    assert report["dead_letters_by_kind"] == {"not JSON": 2, "field 'text' is missing": 1}
    assert (tmp_path / "dead").read_bytes().count(b"\n") == 3


def test_empty_sources_tombstones_and_labels_alone_are_no_error(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    report, _ = report_of(tmp_path / "empty.jsonl", folder=tmp_path)
    assert report["dead_letters_by_kind"] == {}
    labels = write_lines(tmp_path / "labels.jsonl", [{"id": "1", "label": "x"}, b"bad"])
    report_of(labels, "--late-labels", folder=tmp_path)


def test_a_resumed_run_may_find_only_dead_letters(tmp_path: Path) -> None:
    """The source gave events at an earlier time."""
    stream, state = write_lines(tmp_path / "stream.jsonl", [GOOD]), tmp_path / "state"
    report_of(stream, "--checkpoint", state, folder=tmp_path)
    write_lines(stream, [GOOD, b"bad"])
    report, _ = report_of(stream, "--checkpoint", state, folder=tmp_path)
    assert (report["events"], report["dead_letters_by_kind"]) == (1, {"not JSON": 1})


def test_predict_and_produce_refuse_sources_without_events(tmp_path: Path) -> None:
    state = tmp_path / "state"
    report_of(write_lines(tmp_path / "good.jsonl", [GOOD]), "--checkpoint", state, folder=tmp_path)
    bad = write_lines(tmp_path / "bad.vw", [b"no bar", b"none"])
    for command in (("predict", state, bad), ("produce", bad, tmp_path / "out.jsonl")):
        assert "all 2 records are dead letters, all of them: not VW" in command_line(*command, code=3).err


def test_a_pipeline_raises_where_nothing_could_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConnectorError, match="all 1 records are dead letters"):
        Pipeline().run(write_lines(tmp_path / "bad.jsonl", [b"bad"])).finish()


def test_many_dead_letters_are_said_once(tmp_path: Path) -> None:
    few = write_lines(tmp_path / "few.jsonl", [*[GOOD] * 9, b"bad"])
    assert "what is measured" not in report_of(few, folder=tmp_path)[1]
    many = write_lines(tmp_path / "many.jsonl", [*[GOOD] * 1500, *[b"bad"] * 200])
    done = command_line("run", many, "--dead-letters", tmp_path / "dead", "--set", "pipeline.batch_size=100")
    assert done.err.count("records are dead letters, all of them: not JSON; what is measured holds") == 1
    assert "dead letters: 200 not JSON" in done.out


def test_texts_that_are_missing_end_no_run_that_has_events(tmp_path: Path) -> None:
    stream = write_lines(tmp_path / "stream.jsonl", [GOOD, *[DELETED] * 1200, {"text": None}, GOOD])
    report, _ = report_of(stream, folder=tmp_path)
    assert (report["events"], report["dead_letters"]) == (2, 1201)
    for records in ([DELETED] * 1200, [GOOD, *[b"bad"] * 1200]):
        assert LIMIT in command_line("run", write_lines(stream, records), code=3).err


@pytest.mark.parametrize("event", [{"log.level": "E", "text": "a"}, {"log": {"level": "E"}, "text": "a"}])
def test_dotted_names_are_keys_first_then_paths(tmp_path: Path, event: Mapping[str, Any]) -> None:
    event = {**event, "log.n": 7, "log.w": 2}
    options = ("fields.label=log.level", "fields.id=log.n", "fields.weight=log.w", 'evaluation.slice_by=["log.level"]')
    stream, told = write_lines(tmp_path / "stream.jsonl", [event]), tmp_path / "predictions"
    sets = [word for option in options for word in ("--set", option)]
    report, _ = report_of(stream, "--predictions", told, *sets, folder=tmp_path)
    assert (report["labels"], list(report["slices"]["log.level"])) == (["E"], ["E"])
    assert json.loads(told.read_text())["id"] == "7"


def test_a_name_with_a_backslash_is_refused(tmp_path: Path) -> None:
    stream = write_lines(tmp_path / "stream.jsonl", [GOOD])
    assert r"fields: 'log\.level' holds" in refused("run", stream, "--set", r"fields.label=log\.level")


def test_named_fields_that_no_event_has_are_told(tmp_path: Path) -> None:
    stream = write_lines(tmp_path / "stream.jsonl", [GOOD] * 1200)
    options = ("--set", "fields.id=nr", "--slice-by", "shop", "--set", "pipeline.batch_size=100")
    report, told = report_of(stream, *options, folder=tmp_path)
    assert told.count("no event has nr (fields.id), shop (evaluation.slice_by) after 1,000 events") == 1
    assert report["missing_fields"] == ["nr (fields.id)", "shop (evaluation.slice_by)"]


def test_notes_of_other_programs_do_not_decide_a_format(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.csv").write_text("text,label\nwin,spam\nhi,ham\n")
    (folder / "_metadata").write_text("no csv")
    for name in ("_SUCCESS", "README"):
        (folder / name).touch()
    for source in (folder, folder / "*"):
        report, _ = report_of(source, folder=tmp_path)
        assert (report["events"], report["dead_letters"]) == (2, 0)


def test_files_of_several_formats_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.csv").write_text("text,label\nwin,spam\n")
    (folder / "README").write_text("about these files")
    for source in (folder, folder / "*"):
        assert "(csv: a.csv; json: README)" in refused("run", source)
    report, _ = report_of(folder / "*.csv", folder=tmp_path)
    assert report["events"] == 1


def test_names_that_are_not_utf8_are_spelled_one_way(tmp_path: Path) -> None:
    stream = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.jsonl"))
    state, told = tmp_path / "state", tmp_path / "predictions"
    write_lines(stream, [GOOD, b"bad"])
    done = streamlin("run", stream, "--checkpoint", state, "--predictions", told, "--log-format", "json")
    lines = [done.err, told.read_text(), streamlin("inspect", state, "--json").out]
    for text in lines:
        assert r"caf\\xe9.jsonl" in text
        assert r"\udc" not in text
    assert r"\udc" not in streamlin("inspect", state).out


def test_inspect_masks_control_characters_of_labels(tmp_path: Path) -> None:
    stream = write_lines(tmp_path / "stream.jsonl", [{"text": "a", "label": "x\x1b[31m"}, {"text": "b", "label": "y"}])
    report_of(stream, "--checkpoint", tmp_path / "state", folder=tmp_path)
    assert "\x1b" not in command_line("inspect", tmp_path / "state").out


def test_folders_that_a_pattern_may_not_read_are_named(tmp_path: Path) -> None:
    for folder, rights in (("src/open/deep", 0), ("src/shut", 0o300), ("src/_fine", 0o755)):
        (tmp_path / folder).mkdir(parents=True)
        write_lines(tmp_path / folder / "b.jsonl", [GOOD])
        (tmp_path / folder).chmod(rights)
    write_lines(tmp_path / "src" / "a.jsonl", [GOOD])
    patterns = ("src/**/*.jsonl", "src/*/*.jsonl", "src/*.jsonl", "src/s*/*.jsonl")
    runs = [("run", pattern, "--learner", "perceptron") for pattern in patterns]
    deep, flat, none, nothing = ended_with_less_rights(*runs, cwd=tmp_path)
    assert "src/**/*.jsonl: the folder src/open/deep, src/shut can't be read: Permission denied; no file in" in deep.err
    assert deep.out.startswith("2 events")
    assert "src/*/*.jsonl: the folder src/shut can't be read" in flat.err
    assert none.err == ""
    assert (nothing.code, nothing.err.count("no file matches src/s*/*.jsonl, but the folder src/shut can't be")) == (
        3,
        1,
    )
