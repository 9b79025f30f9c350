"""Messages as other producers write them: with a line end, or in a schema registry's frames."""

from pathlib import Path

import pytest

from deploy.kafka.broker import Broker
from tests.integration.kafka.broker import produce, read_all
from tests.integration.kafka.conftest import Topics
from tests.integration.kafka.runs import ran, url
from tests.integration.processes import refused_by_process, streamlin

LINES = {
    "json": b'{"text": "win now", "label": "%b"}',
    "csv&columns=text,label": b"win now,%b",
    "vw": b"%b | win now",
    "fasttext": b"__label__%b",
    "regex&pattern=(?P<text>.*)%20(?P<label>.*)": b"win now %b",
}


@pytest.mark.parametrize("format_", LINES)
def test_a_line_end_is_no_part_of_a_label(broker: Broker, topic: Topics, tmp_path: Path, format_: str) -> None:
    """Console producers add it."""
    name, line = topic(), LINES[format_]
    messages = [line % label + end for label in (b"spam", b"ham") for end in (b"", b"\n", b"\r\n")]
    produce(broker.address, name, [(None, message) for message in messages])
    report, _ = ran(tmp_path, url(broker.address, name, "confluent", stop="end", format=format_))
    assert (report["events"], report["labels"]) == (6, ["spam", "ham"])


FRAME = "begins like a schema registry's frame, id {}; write the topic without the registry's serializer, or convert it to plain JSON"  # noqa: E501


def test_a_topic_of_frames(broker: Broker, topic: Topics, tmp_path: Path, client: str) -> None:
    """Exit 3 names what they are; so does each dead letter."""
    name, dead = topic(), topic()
    produce(broker.address, name, [(None, b"\0" + schema.to_bytes(4) + b"\x0ewin now") for schema in (17, 17, 18)])
    source = url(broker.address, name, client, stop="end")
    report, done = ran(tmp_path, source, "--dead-letters", url(broker.address, dead, client), code=3)
    assert report["dead_letters_by_kind"] == {FRAME.format("…"): 3}
    assert f"all 3 records are dead letters, all of them: {FRAME.format('…')};" in done.err.splitlines()[-1]
    errors = [dict(found.headers)["streamlin.error"] for found in read_all(broker.address, dead)]
    assert errors == [FRAME.format(schema).encode() for schema in (17, 17, 18)]


def test_messages_of_several_lines_are_produced_as_one(broker: Broker, topic: Topics, client: str) -> None:
    """JSON over several lines from one topic to another: one message stays one."""
    name, to = topic(), topic()
    produce(broker.address, name, [(None, b'{"id": "1",\n "text": "a"}\n'), (None, b'{"id": "2", "text": "b"}')])
    source, sink = (url(broker.address, one, client) for one in (name, to))
    streamlin("produce", f"{source}&stop=end", sink)
    found = [(one.key, one.value) for one in read_all(broker.address, to)]
    assert found == [(b"1", b'{"id": "1",  "text": "a"}'), (b"2", b'{"id": "2", "text": "b"}')]


def test_produce_names_the_message_that_is_too_large(
    broker: Broker, topic: Topics, tmp_path: Path, client: str
) -> None:
    """Exit 3, in one line, also where the brokers refuse it."""
    source, name = tmp_path / "a.jsonl", topic(config={"max.message.bytes": "20000"})
    source.write_text('{"text": "%s"}\n' % ("x" * 30_000))
    said = refused_by_process("produce", source, url(broker.address, name, client), code=3)
    size = f"its value of 30,012 bytes for topic '{name}', partition 0 is, with key and headers, over "
    assert said.startswith(
        f"the brokers at {broker.address} have not taken a message: {size}the topic's max.message.bytes"
    )
    option = {"kafka-python": "client.max_request_size", "confluent": "client.message.max.bytes"}[client]
    said = refused_by_process("produce", source, url(broker.address, name, client, **{option: 25_000}), code=3)
    assert said.endswith(f", over {option}=25000, an option of the sink")
