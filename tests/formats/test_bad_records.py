"""A bad record at any place is one dead letter and changes nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlin.events import single_records
from streamlin.testing import check_batch
from tests.formats.reading import one_by_one, opened

GOOD = {
    "json": [b'{"text":"a","label":"x"}', b'{"text":"\xc3\xa9","weight":2}', b' {"text":"b"} ', b'{"text":"","id":5}'],
    "csv": [b"a,x,,", b'"b ""q""",y,2,60', b"\xc3\xa9,,,", b'"l\nf",,,'],
    "vw": [b"x | a", b"y 2 'id| b:-2.5", b"| \xc3\xa9"],
    "fasttext": [b"__label__x a", b"\xc3\xa9", b"__label__y"],
    "regex": [b"x a", b"y 7 b", b"z \xc3\xa9"],
    "text": [b"a", b" ", b"\xc3\xa9"],
    "bracketed": [b"(S (NP (DT a) (NN b)))", b"((X \xc3\xa9))", b" (X (Y (Z a)) (-NONE- *)) "],
    "conll": [b"a X\nb Y", b"\xc3\xa9\tX", b"# a comment\nc 1 X\n# 1 Y", b"# only a comment"],
}
BAD = {
    "json": [
        b"{",
        b"[]",
        b'{"text":"\xff"}',
        b'{"text":"a","weight":-1}',
        b'{"text":"a"}{}',
        b" ",
        b'{"text":"a","time":"x"}',
    ],
    "csv": [b"a,x", b'"a,x,,', b"\xff,x,,", b"a,x,-1,", b"a,x,,soon", b'"a"b,x,,'],
    "vw": [b"x a", b"x | a:b", b"x | \xff", b"x -1 | a"],
    "fasttext": [b"__label__x \xff", b"\xc3"],
    "regex": [b"a", b"x \xff", b""],
    "text": [b"\xff", b"a\xed\xa0\x80"],
    "bracketed": [b"(S (NN a)", b"(NN a) (NN b)", b"(X \xff)", b"(S)", b"a"],
    "conll": [b"a X\nb", b"a\tX\nb\tY\tZ", b"a X\n\nb X", b"a \xff"],
}
OPTIONS = {
    "csv": {"columns": "text,label,weight,time"},
    "regex": {"pattern": r"(?P<label>\w) (?:(?P<id>\d) )?(?P<text>.*)"},
}


@pytest.mark.parametrize("name", GOOD)
@given(st.data())
def test_each_record_is_one_event_or_dead_letter(name, data):
    kinds = st.tuples(st.just("good"), st.sampled_from(GOOD[name])) | st.tuples(
        st.just("bad"), st.sampled_from(BAD[name])
    )
    chosen = data.draw(st.lists(kinds | st.just(("found", b"{\xff")), max_size=20))
    format_ = opened(name, options=OPTIONS.get(name))
    records = single_records([payload for _, payload in chosen])
    records.errors = {i: "too long" for i, (kind, _) in enumerate(chosen) if kind == "found"}
    batch, dead = format_.decode(records)
    check_batch(batch)
    assert batch.kept.tolist() == [i for i, (kind, _) in enumerate(chosen) if kind == "good"]
    assert [letter.record for letter in dead] == [i for i, (kind, _) in enumerate(chosen) if kind != "good"]
    assert all(letter.error == "too long" for letter in dead if letter.record in records.errors)
    assert (batch.events(), dead) == one_by_one(format_, records)


@pytest.mark.parametrize("name", GOOD)
def test_one_bad_record_in_a_thousand_is_found(name):
    """Every position of a batch, first and last included."""
    format_ = opened(name, options=OPTIONS.get(name))
    good, bad = GOOD[name][0], BAD[name][0]
    for at in [0, 1, 499, 500, 998, 999]:
        batch, dead = format_.decode(single_records([good] * at + [bad] + [good] * (999 - at)))
        assert [letter.record for letter in dead] == [at]
        assert batch.kept.tolist() == [i for i in range(1000) if i != at]
