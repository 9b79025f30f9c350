"""Labels that a format reads as something else: what the run says of them."""

import json
from pathlib import Path

from tests.command_line import command_line, refused

TAGS = "write 'spam |text win', not 'spam|text win'"


def test_labels_that_touch_the_bar_are_named(tmp_path: Path) -> None:
    """Once after a thousand events, which a followed file needs; in the summary and the report at the end."""
    stream, report = tmp_path / "a.vw", tmp_path / "report.json"
    stream.write_text("spam|text win\nham|text hello\n" * 600)
    done = command_line("run", stream, "--report", report, "--set", "pipeline.batch_size=100")
    assert done.err.count("no event has a label after 1,000 events, but each has an id; in VW a word") == 1
    assert TAGS in done.err
    assert TAGS in done.out.replace("\n", " ")
    assert TAGS in json.loads(report.read_text())["label_hint"]


def test_tags_beside_labels_are_not_named(tmp_path: Path) -> None:
    stream = tmp_path / "a.vw"
    stream.write_text("a|text win\n" * 700 + "spam a|text win\n" + "b|text win\n" * 700)
    assert "has a label" not in command_line("run", stream).err


def test_formats_say_where_they_expect_a_label(tmp_path: Path) -> None:
    hints = {"a.ft": "begin with __label__", "a.txt": "format text has none", "a.csv": "set fields.label to its field"}
    for name, hint in hints.items():
        (tmp_path / name).write_text("text\nwin\nlose\n")
        assert hint in command_line("run", tmp_path / name).out.replace("\n", " ")


def test_too_many_labels_name_what_a_label_is(tmp_path: Path) -> None:
    (tmp_path / "a.ft").write_text("".join(f"__label__sport,w{i} text\n" for i in range(1500)))
    told = refused("run", tmp_path / "a.ft")
    assert "'sport,w1000' at " in told
    assert "is one too many; in fastText a label ends at a blank, a comma belongs to it; if these are" in told
    (tmp_path / "a.vw").write_text("".join(f"w{i} | text\n" for i in range(1500)))
    assert "in VW the label is the first word of a line" in refused("run", tmp_path / "a.vw")
    (tmp_path / "a.csv").write_text("label,text\n" + "".join(f"w{i},text\n" for i in range(1500)))
    assert "if fields.label = 'label' is the label" in refused("run", tmp_path / "a.csv")
