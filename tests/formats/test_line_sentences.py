"""Raw lines as sentences: texts of formats without tags are cut into tokens, with the places of these."""

import pytest

from streamlin.config import FieldsConfig
from streamlin.errors import ConfigError
from streamlin.features.text_tokens import cutter
from streamlin.formats import FORMATS, open_sentences
from streamlin.testing import check_batch
from tests.formats.reading import framed

OF_SENTENCES = ("json", "text", "regex", "conll")


def decoded(name, data, options=None, extra=(), tokens="whitespace", **fields):
    """The batch and the dead letters of some lines."""
    format_ = open_sentences(name, options or {}, FieldsConfig(**fields), extra, cutter(tokens))
    batch, dead = format_.decode(framed(format_, data))
    check_batch(batch)
    return batch, dead


def sentences_of(batch):
    """The tokens of each sentence."""
    return [batch.texts[begin:end] for begin, end in zip(batch.pieces[:-1], batch.pieces[1:], strict=True)]


def test_lines_are_cut_at_blanks_and_have_no_tags():
    """Runs of blanks and tabs count as one; places are in characters of the line."""
    batch, dead = decoded("text", "iar 0x1f,  dear (7)\n \né\tb\n".encode())
    assert dead == []
    assert sentences_of(batch) == [["iar", "0x1f,", "dear", "(7)"], [], ["é", "b"]]
    assert batch.tokens.offsets.tolist() == [[0, 3], [4, 9], [11, 15], [16, 19], [0, 1], [2, 3]]
    assert batch.tokens.tags == [None] * 6
    assert batch.labels == [None] * 3


def test_features_words_tokens_decides_where_texts_are_cut():
    batch, _ = decoded("text", b"core.77\n", tokens="words")
    assert sentences_of(batch) == [["core", ".", "77"]]


def test_a_pattern_chooses_the_text_and_its_label_is_no_tag():
    """Places are those in the text, not in the line; times and further fields are kept, other lines dead letters."""
    line = b"2024-05-01 12:00:00,000 - WARN  [a:] - took 7 ms\nother\n"
    batch, dead = decoded("regex", line, {"preset": "zookeeper"}, extra=("component",))
    assert sentences_of(batch) == [["took", "7", "ms"]]
    assert batch.tokens.offsets.tolist() == [[0, 4], [5, 6], [7, 9]]
    assert batch.labels == [None]
    assert batch.extra["component"] == ["a:"]
    assert batch.times.tolist() == [1714564800.0]
    assert [letter.error for letter in dead] == ["the line does not match the pattern"]


def test_several_texts_are_cut_as_one():
    batch, _ = decoded("regex", b"a b;c\n", {"pattern": "(?P<x>.*);(?P<y>.*)"}, text=["x", "y"])
    assert sentences_of(batch) == [["a", "b", "c"]]
    assert batch.tokens.offsets.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_joined_lines_are_one_sentence():
    batch, _ = decoded("text", b"error x\n  at y\nnext\n", {"multiline": r"\S"})
    assert sentences_of(batch) == [["error", "x", "at", "y"], ["next"]]
    assert batch.tokens.offsets.tolist() == [[0, 5], [6, 7], [10, 12], [13, 14], [0, 4]]


def test_further_columns_are_empty():
    batch, _ = decoded("text", b"a b\n", columns=["pos"])
    assert batch.tokens.columns == {"pos": ["", ""]}


def test_no_lines_are_an_empty_batch():
    batch, dead = decoded("regex", b"no\n", {"pattern": "(?P<text>x)"})
    assert (len(batch), batch.texts, len(dead)) == (0, [], 1)
    assert batch.tokens.offsets.shape == (0, 2)


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in OF_SENTENCES])
def test_other_formats_have_no_tokens(name):
    line = rf"format {name} has no tokens and tags; task = 'tagging' needs json, text, regex or conll"
    with pytest.raises(ConfigError, match=line):
        open_sentences(name, {}, FieldsConfig(), (), cutter("words"))


@pytest.mark.parametrize("name", OF_SENTENCES)
def test_unknown_options_are_refused(name):
    with pytest.raises(ConfigError, match=f"format {name} has no option 'header'"):
        open_sentences(name, {"header": "true"}, FieldsConfig(), (), cutter("words"))
