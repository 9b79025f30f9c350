"""Keys, headers and times of messages, and messages without a value: from the topic to report and predictions."""

from pathlib import Path

from connectors.kafka.messages import Messages
from deploy.kafka.broker import Broker
from streamlin.config import FieldsConfig
from streamlin.formats import open_format
from tests.integration.kafka.broker import produce
from tests.integration.kafka.conftest import Topics
from tests.integration.kafka.polling import opened, polled, produce_at
from tests.integration.kafka.runs import ran, url
from tests.integration.streams import json_lines


def test_keys_and_headers_become_fields(broker: Broker, topic: Topics, tmp_path: Path, client: str) -> None:
    """Label, id and extra fields come from headers, key and partition; a key may be binary or missing."""
    name, out = topic(2), tmp_path / "out.jsonl"
    good, bad = ("label", b"good"), ("label", b"bad")
    messages = [
        (b"first", b"a fine film", [good, ("region", b"north")], 0),
        (b"\xff\x00\xfe", b"a dull film", [bad, ("region", b"south"), ("region", b"north")], 0),
        (None, "un beau film é".encode(), [("label", None)], 0),
        (b"", b"a fine day", [good], 1),
    ]
    produce(broker.address, name, messages)
    report, _ = ran(
        tmp_path,
        url(broker.address, name, client, stop="end", format="text"),
        *("--set", "fields.label=headers.label", "--set", "fields.id=key"),
        *("--slice-by", "partition", "--slice-by", "headers.region", "--predictions", out),
    )
    lines = {line["id"]: line for line in json_lines(out)}
    assert {key: line.get("label") for key, line in lines.items()} == {
        "first": "good",
        "\\xff\x00\\xfe": "bad",
        f"{name}/0/2": None,
        f"{name}/1/0": "good",
    }
    slices = {field: {value: row["events"] for value, row in rows.items()} for field, rows in report["slices"].items()}
    assert slices == {"partition": {"0": 2, "1": 1}, "headers.region": {"north": 2}}
    assert report["labels"] == list(dict.fromkeys(line["label"] for line in json_lines(out) if "label" in line))
    assert (report["events"], report["labelled"]) == (4, 3)


def test_a_field_of_the_value_comes_first(broker: Broker, topic: Topics, client: str) -> None:
    """A message without an id is named by its position."""
    name = topic()
    values = [
        b'{"text": "a", "key": "own", "headers": {"label": "mine"}}',
        b'{"text": "b", "key": 7}',
        b'{"text": "c", "headers": {"label": ""}}',
    ]
    keys = [b"key", b"key", None]
    produce(broker.address, name, [(*message, [("label", b"h")]) for message in zip(keys, values, strict=True)])
    format_ = open_format("json", {}, FieldsConfig(label="headers.label", id="key"), ())
    batches = [format_.decode(records)[0] for records in read(broker, name, client)]
    assert [id_ for batch in batches for id_ in batch.ids] == ["own", "7", f"{name}/0/2"]
    assert [label for batch in batches for label in batch.labels] == ["mine", "h", "h"]


def read(broker: Broker, topic: str, client: str) -> list[Messages]:
    """All that is there; how many polls that takes is the client's affair."""
    return [records for records in polled(opened(broker.address, topic, client=client, stop="end")) if len(records)]


def test_csv_messages_with_named_columns(broker: Broker, topic: Topics, tmp_path: Path, client: str) -> None:
    """A message is a line; a field of quotes may have line feeds."""
    name, out = topic(), tmp_path / "out.jsonl"
    values = [b'good,"a fine, fine\nfilm",1', b"bad,a dull film,2", b"too,few"]
    produce(broker.address, name, [(None, value) for value in values])
    source = url(broker.address, name, client, stop="end", format="csv", columns="label,text,id")
    report, done = ran(tmp_path, source, "--predictions", out)
    assert [(line["id"], line["label"]) for line in json_lines(out)] == [("1", "good"), ("2", "bad")]
    assert report["dead_letters"] == 1
    assert f"dead letter at {name}/0/2: " in done.err


def test_tombstones_are_counted_and_empty_values_are_errors(
    broker: Broker, topic: Topics, tmp_path: Path, client: str
) -> None:
    """A null is a tombstone, counted and skipped; an empty value is a dead letter; a resumed run counts on."""
    name, state = topic(), tmp_path / "state"
    good = b'{"text": "a", "label": "l"}'
    produce(broker.address, name, [(b"k", value) for value in (None, good, None, b"", good, None)])
    source = url(broker.address, name, client, stop="end")
    for limit, expected in ((1, (1, 1, 0)), (9, (2, 3, 1))):
        report, done = ran(tmp_path, source, "--checkpoint", state, "--limit", limit, "--set", "pipeline.batch_size=1")
        assert (report["events"], report["tombstones"], report["dead_letters"]) == expected
    assert f"dead letter at {name}/0/3: the message is empty" in done.err
    assert done.out.startswith("2 events · 1 label · 1 dead letter · 3 tombstones · lag 0 · ")


def test_tombstones_are_not_read_again_after_a_resume(
    broker: Broker, topic: Topics, tmp_path: Path, client: str
) -> None:
    """In a topic that has nothing else."""
    name, state = topic(), tmp_path / "state"
    produce(broker.address, name, [(b"k", None)] * 2000)
    for _ in range(2):
        report, _ = ran(tmp_path, url(broker.address, name, client, stop="end"), "--checkpoint", state)
        assert (report["events"], report["tombstones"], report["lag"]) == (0, 2000, {f"{name}/0": 0})


def test_times_are_those_of_the_messages(broker: Broker, topic: Topics, client: str) -> None:
    name = topic()
    produce_at(broker.address, name, [(1500, b"one"), (1_714_564_800_001, b"two")])
    format_ = open_format("text", {}, FieldsConfig(time="timestamp"), ["offset", "topic"])
    batches = [format_.decode(records)[0] for records in read(broker, name, client)]
    assert [moment for batch in batches for moment in batch.times.tolist()] == [1.5, 1_714_564_800.001]
    for field, expected in {"offset": ["0", "1"], "topic": [name, name]}.items():
        assert [value for batch in batches for value in batch.extra[field]] == expected
