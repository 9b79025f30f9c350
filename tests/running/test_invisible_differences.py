"""The notice about labels that look alike."""

import json
from pathlib import Path

from streamlin.running.invisible_differences import InvisibleDifferences
from tests.command_line import command_line


def test_the_first_two_labels_that_look_alike_are_named() -> None:
    """Once, with escapes, whether or not they come in one batch."""
    for batches in (
        [["spam", "ham", "sp\u200bam", "ha\u00adm"]],
        [["spam"], ["spam", "ham"], ["spam", "ham", "sp\u200bam"], ["spam", "ham", "sp\u200bam", "ha\u00adm"]],
    ):
        watch = InvisibleDifferences()
        (line,) = [line for labels in [*batches, batches[-1]] if (line := watch.observe(labels)) is not None]
        assert line.startswith("labels 'spam' and 'sp\\u200bam' differ only by characters that can't be seen")


def test_labels_that_look_different_are_not_named() -> None:
    assert InvisibleDifferences().observe(["e", "é", "e\u0301", "E", "spam", "spam ", "\u200bx"]) is None


def test_a_run_names_labels_that_look_alike(tmp_path: Path) -> None:
    stream = tmp_path / "in.jsonl"
    stream.write_text("".join(f"{json.dumps({'text': 'a', 'label': label})}\n" for label in ["x", "\u202ex", "y"] * 3))
    done = command_line("run", stream, "--learner", "perceptron")
    assert done.err.count("labels 'x' and '\\u202ex' differ only by") == 1
