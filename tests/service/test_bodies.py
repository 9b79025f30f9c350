"""Bodies of requests, and the lines in the journal that they become."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlin.config import RunConfig
from streamlin.config.loading import load_config
from streamlin.events import Event, single_records
from streamlin.service.bodies import Bodies, Example, Text
from streamlin.service.problems import Refused
from streamlin.streams.json_lines import json_lines

texts = st.text(st.characters(exclude_categories=["Cs"]))
names = st.one_of(texts.filter(bool), st.integers(), st.floats(allow_nan=False, allow_infinity=False))
examples = st.fixed_dictionaries(
    {"text": texts, "label": names},
    optional={
        "id": names,
        "weight": st.floats(0, 1e9),
        "time": st.floats(allow_nan=False, allow_infinity=False),
    },
)


@given(examples)
def test_a_line_is_read_back_as_the_same_event(body: dict[str, Any]) -> None:
    """Every accepted body; numbers are read back as text."""
    config = RunConfig()
    (example,), is_list = Bodies(Example, 1, config).read(json.dumps(body).encode())
    assert not is_list
    lines = json_lines(config)
    batch, dead = lines.decode(single_records([example.line(lines)]))
    assert dead == []
    id_ = body.get("id")
    assert batch.events() == [
        Event(
            body["text"],
            str(body["label"]),
            None if id_ is None else str(id_),
            body.get("weight", 1.0),
            body.get("time"),
        )
    ]


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    for bodies in (Bodies(Text, 2, RunConfig()), Bodies(Example, 2, RunConfig())):
        with suppress(Refused):
            bodies.read(body)


@pytest.mark.parametrize("body", [b'{"text": "a", "label": "x"}', b'[{"text": "a", "label": "x"}]'])
def test_a_byte_order_mark_before_a_body_is_read_over(body: bytes) -> None:
    bodies = Bodies(Example, 2, RunConfig())
    assert bodies.read(b"\xef\xbb\xbf" + body) == bodies.read(body)


def test_a_label_without_a_text_becomes_a_label_line() -> None:
    lines = json_lines(load_config(flags={"delayed_labels.enabled": True}, environment={}))
    (body,), _ = Bodies(Example, 1, RunConfig()).read(b'{"id": 7, "label": "a", "weight": 2}')
    assert body.is_label
    batch, dead = lines.decode(single_records([body.line(lines)]))
    assert dead == []
    assert batch.label_only is not None
    assert (batch.label_only.tolist(), batch.ids, batch.labels, batch.weights.tolist()) == ([True], ["7"], ["a"], [2.0])
    (body,), _ = Bodies(Example, 1, RunConfig()).read(b'{"id": 7, "label": "a", "text": ""}')
    assert not body.is_label


def test_only_further_fields_are_allowed_in_fields() -> None:
    config = load_config(flags={"evaluation.slice_by": ["label", "split"]}, environment={})
    (body,), _ = Bodies(Text, 1, config).read(b'{"text": "a", "fields": {"split": 1}}')
    assert body.further() == {"split": "1"}
    with pytest.raises(Refused, match=r"fields\.label: unknown key; choose one of split"):
        Bodies(Text, 1, config).read(b'{"text": "a", "fields": {"label": 1}}')
    with pytest.raises(Refused, match="fields: needs texts or numbers by name, got 5"):
        Bodies(Text, 1, config).read(b'{"text": "a", "fields": 5}')
    with pytest.raises(Refused, match="fields: unknown key; "):
        Bodies(Text, 1, RunConfig()).read(b'{"text": "a", "fields": {"split": 1}}')
