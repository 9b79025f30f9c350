"""Texts from one topic, their labels from another; sentences and their tags likewise."""

import json
from pathlib import Path

from deploy.kafka.broker import Broker
from tests.integration.kafka.broker import produce, read_all
from tests.integration.kafka.conftest import Topics
from tests.integration.kafka.runs import ran, url
from tests.integration.streams import real_events


def test_labels_by_key(broker: Broker, topic: Topics, tmp_path: Path, data: Path, client: str) -> None:
    """In two runs, so that labels find texts from before a restart; labels without a text wait, one is null."""
    texts, labels, out = topic(2), topic(), topic()
    events = real_events(data / "sms-spam.jsonl.gz", 300)
    keys = [event["id"].encode() for event in events]
    produce(
        broker.address,
        texts,
        [(key, json.dumps({"text": e["text"]}).encode()) for key, e in zip(keys, events, strict=True)],
    )
    answers = [(key, json.dumps({"label": e["label"]}).encode()) for key, e in zip(keys, events, strict=True)]
    source = url(broker.address, texts, client, stop="end", group="texts")
    feedback = url(broker.address, labels, client, stop="end", group="labels")
    arguments = (
        *("--feedback", feedback, "--set", "fields.id=key", "--checkpoint", tmp_path / "state"),
        *("--predictions", url(broker.address, out, client)),
    )
    produce(broker.address, labels, [*answers[:100], (None, b'{"label": "ham"}'), (b"nobody", b'{"label": "ham"}')])
    report, done = ran(tmp_path, source, *arguments)
    late = report["delayed_labels"]
    assert (report["events"], report["dead_letters"], late["labels_waiting"]) == (300, 1, 1)
    assert "expected a text, or a label with an id" in done.err
    assert (late["joined"] + late["early"], late["waiting"]) == (100, 200)
    produce(broker.address, labels, answers[50:])
    report, _ = ran(tmp_path, source, *arguments)
    late = report["delayed_labels"]
    assert (late["joined"] + late["early"], late["waiting"], late["repeated"]) == (300, 0, 50)
    assert report["labelled"] == 300
    found = read_all(broker.address, out)
    assert sorted(one.key or b"" for one in found) == sorted(keys)
    assert not any("label" in json.loads(one.value or b"") for one in found)


def test_tags_by_key(broker: Broker, topic: Topics, tmp_path: Path, data: Path, client: str) -> None:
    """In two runs; tags of another length than their sentence are a line that names their place in the topic."""
    sentences, tags, out = topic(2), topic(), topic()
    events = real_events(data / "pos-ud-ewt.jsonl.gz", 100)
    keys = [event["id"].encode() for event in events]
    values = [(json.dumps({"tokens": e["tokens"]}).encode(), json.dumps({"tags": e["tags"]}).encode()) for e in events]
    produce(broker.address, sentences, [(key, value) for key, (value, _) in zip(keys, values, strict=True)])
    answers = [(key, value) for key, (_, value) in zip(keys, values, strict=True)]
    arguments = (
        *("--task", "tagging", "--set", "fields.id=key", "--checkpoint", tmp_path / "state"),
        *("--feedback", url(broker.address, tags, client, stop="end", group="tags")),
        *("--predictions", url(broker.address, out, client)),
    )
    source = url(broker.address, sentences, client, stop="end", group="sentences")
    produce(broker.address, tags, [*answers[:40], (keys[70], b'{"tags": ["X"]}'), (keys[71], b'{"tags": [null]}')])
    report, done = ran(tmp_path, source, *arguments)
    late = report["delayed_labels"]
    assert (late["joined"] + late["early"], late["wrong_length"], late["waiting"]) == (40, 1, 60)
    assert (report["events"], report["dead_letters"]) == (100, 1)
    assert "streamlin: left out at " in done.err
    assert f"id '{keys[70].decode()[:59]}, " in done.err
    produce(broker.address, tags, answers[20:])
    report, _ = ran(tmp_path, source, *arguments)
    late = report["delayed_labels"]
    assert (late["joined"] + late["early"], late["repeated"], late["waiting"]) == (100, 20, 0)
    assert report["labelled"] == 100
    found = read_all(broker.address, out)
    assert sorted(one.key or b"" for one in found) == sorted(keys)
    assert not any("tags" in json.loads(one.value or b"") for one in found)
