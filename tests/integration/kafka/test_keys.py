"""Models per key of a topic, where the key is that of the messages."""

import json
from pathlib import Path

from deploy.kafka.broker import Broker
from tests.integration.kafka.broker import produce
from tests.integration.kafka.conftest import Topics
from tests.integration.kafka.runs import ran, url
from tests.integration.streams import json_lines, real_events


def test_a_model_for_each_key_of_messages(
    broker: Broker, topic: Topics, tmp_path: Path, data: Path, client: str
) -> None:
    """In two runs with a checkpoint between them; each key's predictions are those of a file of its messages alone."""
    name, out = topic(1), tmp_path / "out.jsonl"
    events = real_events(data / "sms-spam.jsonl.gz", 400)
    keys = [b"odd" if number % 3 else b"even" for number in range(len(events))]
    messages = [(key, json.dumps(event).encode()) for key, event in zip(keys, events, strict=True)]
    produce(broker.address, name, [*messages[:250], (None, b'{"text": "no key", "label": "ham"}')])
    source = url(broker.address, name, client, stop="end", group="keys")
    keyed = (
        "--set",
        "keys.per=key",
        "--set",
        "keys.shared=false",
        "--checkpoint",
        tmp_path / "state",
        "--predictions",
        out,
    )
    report, _ = ran(tmp_path, source, *keyed)
    assert (report["keys"]["keys"], report["keys"]["without_key"]) == (2, 1)
    produce(broker.address, name, messages[250:])
    report, _ = ran(tmp_path, source, *keyed)
    assert report["keys"]["labelled"] == 400
    lines = {line["id"]: line["learners"] for line in json_lines(out)}
    for key in (b"odd", b"even"):
        own = [event for event, of in zip(events, keys, strict=True) if of == key]
        (tmp_path / "own.jsonl").write_text("".join(json.dumps(event) + "\n" for event in own))
        predictions = tmp_path / f"{key.decode()}.jsonl"
        ran(tmp_path, tmp_path / "own.jsonl", "--predictions", predictions)
        alone = {line["id"]: line["learners"] for line in json_lines(predictions)}
        assert {event["id"]: lines[event["id"]] for event in own} == alone
