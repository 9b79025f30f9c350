"""The notice about labels that look alike."""

import json
from pathlib import Path

import pytest

from streamlin.running.similar_labels import SimilarLabels
from tests.command_line import command_line


def test_the_first_two_labels_that_look_alike_are_named() -> None:
    """Once, with escapes, whether or not they come in one batch."""
    for batches in (
        [["spam", "ham", "sp\u200bam", "ha\u00adm"]],
        [["spam"], ["spam", "ham"], ["spam", "ham", "sp\u200bam"], ["spam", "ham", "sp\u200bam", "ha\u00adm"]],
    ):
        watch = SimilarLabels()
        (line,) = [line for labels in [*batches, batches[-1]] if (line := watch.observe(labels)) is not None]
        assert line.startswith("labels 'spam' and 'sp\\u200bam' differ only by characters that can't be seen")


@pytest.mark.parametrize(
    ("labels", "line"),
    [
        (["spam", "ham", "Spam"], "labels 'spam' and 'Spam' differ only by case"),
        (["spam", "spam "], "labels 'spam' and 'spam ' differ only by blanks"),
        (["not spam", "not\u00a0 spam"], "labels 'not spam' and 'not\\xa0 spam' differ only by blanks"),
        (["\u00e9", "e\u0301"], "labels '\\xe9' and 'e\\u0301' differ only by their Unicode form"),
        (["\ufb01x", "fix"], "labels '\\ufb01x' and 'fix' differ only by their Unicode form"),
        ([" Stra\u00dfe", "STRASSE"], "labels ' Stra\\xdfe' and 'STRASSE' differ only by case"),
        (["sp\u200bam", "Spam"], "labels 'sp\\u200bam' and 'Spam' differ only by case"),
    ],
)
def test_labels_that_differ_by_what_is_overlooked_are_named(labels: list[str], line: str) -> None:
    told = SimilarLabels().observe(labels)
    assert told is not None
    assert told.startswith(f"{line}, and are two labels")


def test_labels_that_look_different_are_not_named() -> None:
    assert (
        SimilarLabels().observe(["e", "\u00e9", "E\u0300", "spam", "spams", "a b", "ab", "\u200bx", "1", "01"]) is None
    )


def test_a_run_names_labels_that_look_alike(tmp_path: Path) -> None:
    stream = tmp_path / "in.jsonl"
    stream.write_text("".join(f"{json.dumps({'text': 'a', 'label': label})}\n" for label in ["x", "\u202ex", "y"] * 3))
    done = command_line("run", stream, "--learner", "perceptron")
    assert done.err.count("labels 'x' and '\\u202ex' differ only by") == 1
