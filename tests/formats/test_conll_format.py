"""Sentences in CoNLL's columns and in CoNLL-U."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlin.config import FieldsConfig
from streamlin.errors import ConfigError, RecordError
from streamlin.events import Event, single_records
from streamlin.formats import open_format
from streamlin.testing import check_batch, check_format
from tests.formats.reading import error, framed, opened

CHUNKS = b"Confidence NN B-NP\nin IN B-PP\nthe DT B-NP\npound NN I-NP\n"
UNIVERSAL = """\
# sent_id = w01
# text = vámonos al mar
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tvamos\tir\tVERB\tV\t_\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_
2.1\tnada\tnada\tX\t_\t_\t_\t_\t_\t_
3\tal\tel\t_\tP\t_\t4\tcase\t_\t_
4\tmar\tmar\tNOUN\tN\t_\t1\tobl\t_\t_
""".encode()


def sentences(data, options=None, **fields) -> list[dict[str, Any]]:
    """The sentences of a part that is all good."""
    format_ = open_format("conll", options or {}, FieldsConfig(**fields), ())
    batch, dead = format_.decode(framed(format_, data))
    assert dead == []
    check_batch(batch)
    bounds = batch.pieces.tolist()
    whole = {"tokens": batch.texts, "tags": batch.tokens.tags} | batch.tokens.columns
    return [
        {"id": id_} | {name: column[begin:end] for name, column in whole.items()}
        for id_, begin, end in zip(batch.ids, bounds, bounds[1:], strict=False)
    ]


def tokens(data, options=None, **fields):
    return [sentence["tokens"] for sentence in sentences(data, options, **fields)]


def test_the_first_column_is_the_token_and_the_last_its_tag():
    (found,) = sentences(CHUNKS)
    assert found == {
        "id": None,
        "tokens": ["Confidence", "in", "the", "pound"],
        "tags": ["B-NP", "B-PP", "B-NP", "I-NP"],
    }


def test_columns_are_named_by_an_option():
    (found,) = sentences(CHUNKS, {"columns": "tokens, pos, tags"}, columns="pos")
    assert found["pos"] == ["NN", "IN", "DT", "NN"]
    assert found["tags"] == ["B-NP", "B-PP", "B-NP", "I-NP"]
    (found,) = sentences(CHUNKS, {"columns": "form,pos,chunk"}, tokens="form", tags="pos")
    assert found["tags"] == ["NN", "IN", "DT", "NN"]


def test_a_single_column_has_no_tags():
    (found,) = sentences(b"a\nb\n")
    assert (found["tokens"], found["tags"]) == (["a", "b"], [None, None])


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("gap", [1, 2, 5])
def test_empty_lines_separate_sentences(end, gap):
    """However many, also before the first and behind the last one; line ends may be those of Windows."""
    data = end * gap + b"a X" + end + b"b Y" + end * (gap + 1) + b"c Z" + end * gap
    assert sentences(data) == [
        {"id": None, "tokens": ["a", "b"], "tags": ["X", "Y"]},
        {"id": None, "tokens": ["c"], "tags": ["Z"]},
    ]


def test_tabs_and_blanks_separate_columns():
    """A tab in a line makes tabs its only separators, so that a token may hold blanks."""
    assert tokens(b"New York\tB-LOC\nis\tO\n") == [["New York", "is"]]
    assert tokens(b"a   X\nb  Y\n") == [["a", "b"]]


def test_an_empty_cell_is_an_unknown_tag():
    (found,) = sentences(b"a\tX\nb\t\n")
    assert found["tags"] == ["X", None]


@pytest.mark.parametrize(
    "data",
    [
        b"# about this sentence\na X\nb Y\n",
        b"# these are\n# two lines of it\na X\nb Y\n",
        b"# tabs below\na\tX\nb\tY\n",
        b"#\na X\nb Y\n",
    ],
)
def test_lines_before_the_first_token_may_be_comments(data):
    assert tokens(data) == [["a", "b"]]


@pytest.mark.parametrize(
    "data",
    [
        b"# # B-NP\n130 CD I-NP\n",
        b"#\tSYM\n130\tNUM\n",
        b"#\tSYM\nNew York\tPROPN\n",
        b"# about\n#\tSYM\n130\tNUM\n",
    ],
)
def test_a_sign_that_is_a_token_is_no_comment(data):
    """It has the columns of the last line."""
    assert tokens(data)[0][0] == "#"
    assert len(tokens(data)[0]) == 2


def test_a_sentence_of_one_sign_has_that_token():
    assert tokens(b"#\tSYM\n") == [["#"]]
    assert tokens(b"# SYM\n", {"columns": "tokens,tags"}) == [["#"]]


def test_a_sign_inside_a_sentence_is_a_token():
    assert tokens(b"a X\n# Y\nb Z\n") == [["a", "#", "b"]]


def test_words_of_universal_dependencies_are_read():
    """Not ranges and empty nodes; `_` is an unknown tag; the id is that of the sentence."""
    (found,) = sentences(UNIVERSAL)
    assert found == {
        "id": "w01",
        "tokens": ["vamos", "nos", "al", "mar"],
        "tags": ["VERB", "PRON", None, "NOUN"],
    }


def test_every_column_of_universal_dependencies_has_a_name():
    (found,) = sentences(UNIVERSAL, tokens="lemma", tags="xpos", columns=["deprel", "upos"])
    assert found["tokens"] == ["ir", "nosotros", "el", "mar"]
    assert found["tags"] == ["V", None, "P", "N"]
    assert found["deprel"] == ["root", "obj", "case", "obl"]


def test_ten_other_columns_are_not_universal_dependencies():
    """With blanks they are columns like any; with tabs their numbers are wrong, which is told."""
    row = ["word", *"23456789", "X"]
    assert sentences(" ".join(row).encode() + b"\n")[0]["tags"] == ["X"]
    told = error(opened("conll"), "\t".join(row).encode())
    assert told == "the number of a token is 'word'; if these are not CoNLL-U's columns, name columns="
    names = {"columns": ",".join(["tokens", *"23456789", "tags"])}
    assert sentences("\t".join(row).encode(), names)[0]["tags"] == ["X"]


@pytest.mark.parametrize(
    ("options", "record", "says"),
    [
        ({}, b"a X\nb", "lines of 1 and of 2 columns in one sentence"),
        ({}, b"New York\tX\nNew York Y", "lines of 2 and of 3 columns in one sentence"),
        ({"columns": "tokens,pos,tags"}, b"a X\nb Y", "2 columns, expected 3: tokens, pos, tags"),
        ({}, b"a X\n\nb Y", "lines of 0 and of 2 columns in one sentence"),
        ({}, b"a \xff", "not UTF-8: byte 0xff at position 2"),
    ],
)
def test_wrong_widths_are_dead_letters(options, record, says):
    """As messages, which are not cut at empty lines."""
    batch, dead = opened("conll", options=options).decode(single_records([record]))
    assert (len(batch), [letter.error for letter in dead]) == (0, [says])


def test_a_message_may_end_with_line_feeds():
    """As one of Kafka's."""
    batch, dead = opened("conll").decode(single_records([b"a X\nb Y\n", b"c Z\r\n\r\n"]))
    assert (batch.texts, dead) == (["a", "b", "c"], [])


def test_a_feature_column_that_is_missing_is_named():
    told = error(open_format("conll", {}, FieldsConfig(columns="pos"), ()), b"a NN X")
    assert told == "no column 'pos'; name the columns by the option columns="


@pytest.mark.parametrize("columns", ["pos,tags", "tokens,tags"])
def test_named_columns_must_hold_those_that_are_used(columns):
    with pytest.raises(ConfigError, match=r"format conll: columns has no '(tokens|pos)'; it names"):
        open_format("conll", {"columns": columns}, FieldsConfig(columns="pos"), ())


def test_an_event_can_not_be_written():
    with pytest.raises(RecordError, match="expected a text format"):
        opened("conll").encode(Event("a b", "X"))


def test_universal_dependencies_keep_the_contract():
    other = b"# newdoc\n1\ta\t_\tX\t_\t_\t0\troot\t_\t_"
    bad = [other + b"\n2\tb", b"x\ta\t_\tX\t_\t_\t0\troot\t_\t_"]
    check_format(lambda: opened("conll"), [UNIVERSAL.rstrip(b"\n"), other], bad, separator=b"\n\n")


lines = st.lists(st.sampled_from([b"a X", b"b Y", b"# c", b"", b"", b"d\tZ"]), max_size=12)


@given(lines, st.sampled_from([b"\n", b"\r\n"]), st.booleans())
def test_a_stream_cut_anywhere_has_the_same_sentences(own, end, ends):
    """As a file that is followed; the sentences are the parts between empty lines."""
    framing = opened("conll").framing
    whole = end.join(own) + (end if ends else b"")
    starts, stops, _ = framing(whole, True)
    expected = [whole[a:b].rstrip(b"\r") for a, b in zip(starts, stops, strict=True)]
    blocks = re.split(rb"(?:\r?\n){2,}", whole.strip(b"\r\n"))
    assert expected == [block for block in blocks if block]
    for cut in range(len(whole) + 1):
        starts, stops, consumed = framing(whole[:cut], False)
        found = [whole[a:b] for a, b in zip(starts, stops, strict=True)]
        rest = whole[consumed:]
        starts, stops, used = framing(rest, True)
        found += [rest[a:b] for a, b in zip(starts, stops, strict=True)]
        assert [block.rstrip(b"\r") for block in found] == expected, cut
        assert used == len(rest)


def test_a_sentence_counts_when_an_empty_line_follows():
    """Until then another token may come."""
    framing = opened("conll").framing
    assert framing(b"a X\nb Y\n", False)[2] == 0
    starts, ends, consumed = framing(b"a X\nb Y\n\nc", False)
    assert (starts.tolist(), ends.tolist(), consumed) == ([0], [7], 9)
