"""Formats read back what they write, and refuse events they can't represent."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from streamlin.errors import RecordError
from streamlin.events import Event
from streamlin.formats.base import comparable
from tests.formats.reading import events, opened

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.text(
    "ab \n\r\t\"',|:\ufeff\u2028\0", max_size=9
)
words = st.lists(st.text("abc:é\u2028", min_size=1, max_size=4), max_size=4).map(" ".join)
names = texts.filter(bool) | st.text("abc", min_size=1)
any_event = st.builds(
    Event,
    text=texts | words,
    label=st.none() | names,
    id=st.none() | names,
    weight=st.just(1.0) | st.floats(0, 1e9),
    time=st.none() | st.floats(-1e300, 1e300),
    extra=st.fixed_dictionaries({}, optional={"x": names, "y.z": names}),
)
worded_event = st.builds(Event, text=words, label=st.none() | st.text("abc", min_size=1))
FORMATS = {
    "json": opened("json", ["x", "y.z"]),
    "csv": opened("csv", ["x", "y.z"]),
    "tsv": opened("tsv", ["x", "y.z"], {"columns": "id,label,weight,time,x,y.z,text", "quotes": "true"}),
    "tsv without quotes": opened("tsv", ["x", "y.z"], {"columns": "id,label,weight,time,x,y.z,text"}),
    "vw": opened("vw"),
    "fasttext": opened("fasttext"),
    "text": opened("text"),
}


def read_back(format_, lines):
    header = [format_.encode_header()] if format_.framing.header else []
    return [comparable(event) for event in events(format_, b"".join(line + b"\n" for line in [*header, *lines]))]


@pytest.mark.parametrize("name", ["json", "csv", "tsv"])
@given(given_events=st.lists(any_event, max_size=4))
def test_every_event_makes_the_round_trip(name, given_events):
    format_ = FORMATS[name]
    assert read_back(format_, [format_.encode(event) for event in given_events]) == given_events


@pytest.mark.parametrize("name", ["tsv without quotes", "vw", "fasttext", "text"])
@given(given_events=st.lists(any_event | worded_event, min_size=1, max_size=4))
def test_an_event_makes_the_round_trip_or_is_refused(name, given_events):
    format_ = FORMATS[name]
    held, lines = [], []
    for event in given_events:
        try:
            lines.append(format_.encode(event))
        except RecordError:
            continue
        held.append(event)
    assume(held)
    assert read_back(format_, lines) == held


@pytest.mark.parametrize("name", ["vw", "fasttext"])
@given(
    text=st.lists(st.text("abcé", min_size=1), min_size=1).map(" ".join), label=st.none() | st.text("abc", min_size=1)
)
def test_words_and_a_label_are_never_refused(name, text, label):
    event = Event(text, label)
    assert read_back(FORMATS[name], [FORMATS[name].encode(event)]) == [event]
