"""The notice about texts in scripts without blanks."""

import json
from pathlib import Path

import pytest

from streamlin.config import ViewConfig
from streamlin.running.unsegmented_texts import UnsegmentedTexts
from tests.command_line import command_line

CHINESE, THAI, JAPANESE = "今天天气很好我们去公园", "วันนี้อากาศดีมาก", "きょうは天気がいいですね"
WORDS = ViewConfig()
CHARACTERS = ViewConfig(tokens="char_wb")


def lines(batches: list[list[str]], *views: ViewConfig) -> list[str]:
    watch = UnsegmentedTexts(views or (WORDS,))
    return [line for batch in batches if (line := watch.observe(batch)) is not None]


@pytest.mark.parametrize("text", [CHINESE, THAI, JAPANESE, f"08 {CHINESE}, {CHINESE}"])
def test_most_texts_without_blanks_are_noticed_once(text: str) -> None:
    batches = [[text] * 400, [*["plain"] * 300, *[text] * 400], [text] * 5000]
    (line,) = lines(batches)
    assert line.startswith("700 of the first 1,000 texts are in a script without blanks")
    assert 'tokens = "char_wb"' in line
    assert lines([[text] * 5000, [text] * 5000]) == [line.replace("700", "1,000")]


@pytest.mark.parametrize(
    "text",
    ["plain words", "Donaudampfschifffahrtsgesellschaftskapitän", "हिन्दी में लिखा है", "മലയാളംവാക്കുകൾ", "中文 短", ""],
)
def test_texts_of_words_are_not_noticed(text: str) -> None:
    assert lines([[text] * 3000]) == []


def test_half_of_the_texts_or_too_few_are_not_noticed() -> None:
    assert lines([["a"] * 500, [CHINESE] * 500, [CHINESE] * 5000]) == []
    assert lines([[CHINESE] * 999]) == []


def test_a_view_of_characters_needs_no_notice() -> None:
    assert lines([[CHINESE] * 3000], CHARACTERS) == lines([[CHINESE] * 3000], WORDS, CHARACTERS) == []


def test_a_run_shows_the_notice(tmp_path: Path) -> None:
    """On standard error, once; not with the preset `accurate`."""
    stream = tmp_path / "in.jsonl"
    event = json.dumps({"text": CHINESE, "label": "x"})
    stream.write_text(f"{event}\n" * 2500)
    done = command_line("run", stream, "--learner", "perceptron")
    assert done.err.count("script without blanks") == 1
    done = command_line("run", stream, "--set", "features.words.tokens=char_wb", "--learner", "perceptron")
    assert "script without blanks" not in done.err
