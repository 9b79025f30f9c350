"""All formats pass the public contract checks, and these checks find broken formats."""

import numpy as np
import pytest

from streamlin.config import FieldsConfig
from streamlin.errors import RecordError
from streamlin.formats import FORMATS, open_format
from streamlin.formats.framing import Lines
from streamlin.formats.log_presets import PRESETS
from streamlin.formats.text import TextFormat
from streamlin.testing import check_batch, check_format
from tests.formats.reading import framed, opened
from tests.formats.test_bad_records import BAD, GOOD, OPTIONS
from tests.formats.test_log_presets import log

TABS = {
    "good": [b"a\tx\t\t", b'"b ""q"""\ty\t2\t60', b"\xc3\xa9\t\t\t", b'"l\nf"\t\t\t'],
    "bad": [b"a\tx", b'"a\tx\t\t', b"a\tx\t-1\t", b"a\tx\t\tsoon"],
}


@pytest.mark.parametrize("name", FORMATS)
def test_our_formats_keep_the_contract(name):
    if name == "tsv":
        check_format(lambda: opened("tsv", options={"columns": "text,label,weight,time", "quotes": "true"}), **TABS)
    else:
        separator = b"\n\n" if name == "conll" else b"\n"
        check_format(lambda: opened(name, options=OPTIONS.get(name)), GOOD[name], BAD[name], separator=separator)


@pytest.mark.parametrize(("name", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_tables_with_a_header_keep_the_contract(name, delimiter):
    rows = [["a b", "x", "7"], ["c", "", ""], ['"two\nlines"', "y", "8"]]
    good, header = [delimiter.join(row).encode() for row in rows], delimiter.join(["text", "label", "id"]).encode()
    check_format(lambda: opened(name, options={"quotes": "true"}), good, [b"a"], header)
    good = [row.replace(b"\n", b" ") for row in good]
    check_format(lambda: opened(name, options={"quotes": "false"}), good, [b"a"], header)


@pytest.mark.parametrize("preset", PRESETS)
def test_log_presets_keep_the_contract(preset, data):
    lines = log(data, preset).splitlines()[:30]
    check_format(lambda: opened("regex", options={"preset": preset}), lines, [b"no such line"])


def test_several_text_fields_keep_the_contract():
    def make():
        return open_format("json", {}, FieldsConfig(text=("subject", "body")), ("split",))

    good = [
        b'{"subject": "a", "body": "b\\nc", "split": "test"}',
        b'{"body": "only"}',
        b'{"subject": "", "label": "x"}',
    ]
    check_format(make, good, [b'{"text": "elsewhere"}'])


class Forgiving(TextFormat):
    """Returns an event for a record that can't be read."""

    def batch(self, records, kept):
        records.data = records.data.replace(b"\xff\xfe", b"??")
        return super().batch(records, kept)


class Remembering(TextFormat):
    """Counts the lines it has read."""

    lines = 0

    def read(self, line):
        self.lines += 1
        return f"{self.lines} {line}", None, None, 1.0


class Quoting(TextFormat):
    """Writes lines that it does not read back."""

    def encode(self, event):
        return b'"' + super().encode(event) + b'"'


class Chatty(TextFormat):
    """Explains what is wrong in two lines."""

    def read(self, line):
        if line == "bad":
            raise RecordError("it is bad\nreally")
        return super().read(line)


class Hurried(Lines):
    """Takes incomplete data for a complete record."""

    def __call__(self, data, final):
        return super().__call__(data, True)


class Greedy(Lines):
    """Claims to have consumed everything."""

    def __call__(self, data, final):
        starts, ends, _ = super().__call__(data, final)
        return starts, ends, len(data)


def of(cls, framing=None):
    """Makes a text format of that class."""

    def make():
        format_ = cls({}, FieldsConfig(), ())
        if framing is not None:
            format_.framing = framing
        return format_

    return make


@pytest.mark.parametrize(
    ("make", "broken"),
    [
        (of(Forgiving), r"b'\\xff\\xfe' must be a dead letter"),
        (of(Remembering), "the events of b'a' alone"),
        (of(Quoting), "its own records, read back"),
        (of(Chatty), "the lines of the error 'it is bad\\\\nreally'"),
        (of(TextFormat, Hurried()), "a stream cut at byte"),
        (of(TextFormat, Greedy()), "a stream cut at byte"),
    ],
)
def test_a_format_that_breaks_the_contract_is_found(make, broken):
    bad = [b"bad"] if make().__class__ is Chatty else []
    with pytest.raises(AssertionError, match=broken):
        check_format(make, [b"a", b"b c", b"d e f"], bad)


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({"tags": ["X", ""]}, "tags: a missing one must be None"),
        ({"tags": ["X"]}, "the length of tags: found 1, expected 2"),
        ({"columns": {"pos": ["X"]}}, "the length of pos: found 1, expected 2"),
    ],
)
def test_sentences_that_break_their_promises_are_found(change, broken):
    format_ = opened("conll")
    batch, _ = format_.decode(framed(format_, b"a X\n\nb Y\n"))
    check_batch(batch)
    with pytest.raises(AssertionError, match=broken):
        check_batch(type(batch)(**vars(batch) | {"tokens": type(batch.tokens)(**vars(batch.tokens) | change)}))


def test_bad_samples_and_a_missing_header_are_found():
    with pytest.raises(AssertionError, match="b'nope' must be an event, got not JSON"):
        check_format(lambda: opened("json"), [b'{"text": "a"}', b"nope"])
    with pytest.raises(AssertionError, match=r"framing\.header is True, header None"):
        check_format(lambda: opened("csv"), [b"a"])


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({"labels": ["x", ""]}, "labels: a missing one must be None"),
        ({"ids": ["", None]}, "ids: a missing one must be None"),
        ({"labels": ["x"]}, "the length of labels: found 1, expected 2"),
        ({"weights": np.array([1.0, -1.0])}, "weights must be from 0 to 1e9"),
        ({"weights": np.array([1.0, np.nan])}, "weights must be from 0 to 1e9"),
        ({"weights": np.array([1, 1])}, "the type of weights"),
        ({"extra": {"split": [None]}}, "the length of split"),
        ({"texts": ["a"]}, "the number of texts"),
        ({"pieces": np.array([0, 0, 2])}, "each event needs at least one text"),
        ({"pieces": np.array([0, 1, 3])}, "the ends of pieces"),
    ],
)
def test_a_batch_that_breaks_its_promises_is_found(change, broken):
    format_ = opened("json")
    batch, _ = format_.decode(framed(format_, b'{"text": "a"}\n{"text": "b"}\n'))
    check_batch(batch)
    with pytest.raises(AssertionError, match=broken):
        check_batch(type(batch)(**vars(batch) | change))
