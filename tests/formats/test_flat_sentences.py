"""Sentences of flat objects, whose lists a kernel reads, are the same as those that msgspec reads; so are errors."""

import re
from collections.abc import Iterable

from hypothesis import example, given, settings
from hypothesis import strategies as st

from streamlin.config import FieldsConfig
from streamlin.events import CodedTexts, single_records
from streamlin.features.text_tokens import cutter
from streamlin.formats import open_sentences
from streamlin.formats.flat_columns import FEWEST
from streamlin.formats.flat_sentences import FIRST
from streamlin.kernel.byte_buffers import Utf8Texts
from streamlin.tagging.features import TokenView
from tests.formats.test_flat_json import BLANKS, TEXTS, VALUES

FIELDS = FieldsConfig(columns=("pos",))
FLAT = open_sentences("json", {}, FIELDS, (), cutter("words"))
FLAT.decode(single_records([b'{"tokens": []}'] * FIRST))
ANY = open_sentences("json", {}, FIELDS, ("elsewhere",), cutter("words"))
"""A further field is read by msgspec alone, so this one reads everything with it."""
VIEW = TokenView(22, ("pos",))

text = st.one_of(st.sampled_from(TEXTS), st.sampled_from(["A", "b", "ΑΣ", "İx", "ǅ", "ß"]), st.text(max_size=5))
item = st.one_of(text.map('"{}"'.format), text.map('"{}"'.format), st.sampled_from(["null", *VALUES]))
items = st.tuples(st.lists(item, max_size=3), st.sampled_from([", ", ",", " ,\t", ",,", "\n,", ""])).map(
    lambda parts: f"[{parts[1].join(parts[0])}]"
)
plain = (
    st.lists(st.sampled_from(['"X"', '"Y"', '""', "null"]), min_size=2, max_size=2).map(", ".join).map("[{}]".format)
)
value = st.one_of(items, items, plain, plain, st.sampled_from(VALUES), st.just("[[1], {}]"))
keys = st.sampled_from(["tokens", "tags", "pos", "id", "text", "weight", "time", "chunks", "elsewhere", r"ta\u0067s"])
member = st.tuples(st.sampled_from(BLANKS), keys, st.sampled_from(BLANKS), value).map(
    lambda parts: '{}"{}"{}:{}'.format(*parts)
)
sentence = st.tuples(text, text, st.lists(member, max_size=3).map(", ".join), st.sampled_from(BLANKS)).map(
    lambda parts: '{{"tokens": ["{}", "{}"], {}}}{}'.format(*parts).replace(", }", "}").encode("utf-8", "surrogatepass")
)
broken = st.tuples(sentence, st.integers(0), st.binary(max_size=2)).map(
    lambda parts: parts[0][: parts[1] % len(parts[0])] + parts[2] + parts[0][parts[1] % len(parts[0]) + 1 :]
)
LONG = b'{"tokens": ["%s"], "id": "0", "tags": ["Z"]}' % (b"w " * FEWEST)

PLACE = re.compile(r" \(byte \d+\)")
"""In a value that only one of the formats reads, msgspec names the byte that is wrong, else the one it begins with."""


def read(format_, records: Iterable[bytes]):
    """Everything that a format says of records, behind one so long that flat ones are read at all."""
    batch, dead = format_.decode(single_records([LONG, *records]))
    tags = batch.tokens.distinct_tags
    columns = (batch.ids, batch.texts, batch.labels, batch.weights, batch.times.astype(str), batch.kept, batch.keys())
    of_tokens = batch.tokens.tags, batch.tokens.columns["pos"], batch.pieces, tags.values, tags.codes
    features = VIEW.buckets(batch)
    said = [one._replace(error=PLACE.sub("", one.error)) for one in dead]
    return [list(column) for column in (*columns, *of_tokens)], said, [array.tobytes() for array in features]


@settings(max_examples=500, deadline=None)
@given(st.lists(st.one_of(sentence, sentence, broken), max_size=4))
@example([b'{"tokens": ["a"], "tags": ["X"], "tags": ["Y"]}'])
@example([b'{"tokens": ["a"], "elsewhere": truth}'])
@example([b'{"tokens": ["a"], "tags": null, "tags": ["Y"]}', b'{"tokens": ["a"], "tags": ["Y"], "tags": null}'])
@example([b'{"tokens": ["a"], "tags": ["X", "Y"]}', b'{"tokens": ["a", null]}', b'{"tokens": null}', b"{}"])
@example([b'{"tokens": [], "tags": []}', b'{"tokens": ["a"], "pos": [null], "tags": [null]}'])
@example([b'{"tokens": ["a"], "chunks": [1, [2]]}', b'{"tokens": ["a"], "chunks": {"tokens": ["b"]}}'])
@example([b'{"tokens": ["a"], "chunks": [1e5, -1, true]}', b'{"tokens": ["a"], "chunks": [-]}'])
@example([b'{"tokens": ["a"], "tags": ["\\u0058"]}', b'{"tokens": ["a"]} {"tokens": ["b"]}'])
def test_sentences_of_flat_objects_are_read_as_any_others(records) -> None:
    assert read(FLAT, records) == read(ANY, records)


def test_sentences_of_flat_objects_have_no_object_each() -> None:
    """Nor have tokens and tags; what is said of them is as if they had."""
    lines = [b'{"id": "%d", "tokens": ["A", "\\"b"], "tags": ["X", null], "chunks": [1, "b"]}' % i for i in range(999)]
    batch, _ = FLAT.decode(single_records(lines))
    assert isinstance(batch.texts, Utf8Texts)
    assert isinstance(batch.ids, Utf8Texts)
    assert isinstance(batch.tokens.tags, CodedTexts)
    assert batch.texts == ["A", '"b'] * 999
    assert batch.tokens.tags == ["X", None] * 999
    assert (batch.tokens.tags[1], batch.tokens.tags[2], batch.tokens.columns) == (None, "X", {"pos": [""] * 1998})
    assert batch.tokens.take(batch.pieces[1:3]).tags == ["X", "X"]
    assert (len(batch[5:7].tokens.tags), batch[5:7].tokens.distinct_tags.values) == (4, ["X"])
