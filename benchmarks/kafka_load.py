"""The other side of the Kafka benchmarks, in its own process: fills a topic, or offers events and awaits predictions.

`fill ADDRESS TOPIC EVENTS [OPTION=VALUE …]` puts a synthetic stream into a topic. `offer ADDRESS IN OUT RATE SECONDS`
sends events at a steady rate and prints, as JSON, the seconds from each event's sending to its prediction's arrival.
"""

import json
import sys
import threading
import time
from typing import Any

import numpy as np
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from connectors.synthetic.options import parse_options
from connectors.synthetic.source import SyntheticStream

_TICK = 0.001
"""Seconds between two groups of offered events."""
_PATIENCE = 20.0


def main() -> None:
    command, *arguments = sys.argv[1:]
    {"fill": fill, "offer": offer}[command](*arguments)


def fill(address: str, topic: str, events: str, *options: str) -> None:
    """Create the topic, if it does not exist, and send a synthetic stream as fast as possible."""
    admin = AdminClient({"bootstrap.servers": address})
    made = admin.create_topics([NewTopic(topic, 1, 1)])[topic]
    if made.exception() is not None and made.exception().args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
        made.result()
    producer = _producer(address, linger=20)
    chosen = dict(option.split("=") for option in options)
    for lines in _blocks(int(events), chosen):
        producer.produce_batch(topic, [{"value": line} for line in lines])
        while len(producer) > 300_000:
            producer.poll(0.05)
    producer.flush()


def offer(address: str, topic: str, predictions: str, rate: str, seconds: str) -> None:
    """Send events and await their predictions; the first tenth of them is warm-up and does not count."""
    total, pace = int(rate) * int(seconds), int(rate)
    lines = [line for block in _blocks(total, {"labels": "4"}) for line in block]
    sent, arrived = np.full(total, np.nan), np.full(total, np.nan)
    reader = threading.Thread(target=_await, args=(address, predictions, arrived))
    reader.start()
    producer, begin, done = _producer(address, linger=0), time.perf_counter(), 0
    while done < total:
        due = min(total, int((time.perf_counter() - begin) * pace))
        if due > done:
            sent[done:due] = time.perf_counter()
            producer.produce_batch(topic, [{"value": line} for line in lines[done:due]])
            done = due
        producer.poll(0)
        time.sleep(_TICK)
    producer.flush()
    reader.join()
    waits = (arrived - sent)[total // 10 :]
    missing = int(np.isnan(waits).sum())
    quantiles = {f"p{share}": float(np.nanpercentile(waits, share)) for share in (50, 90, 99, 99.9, 100)}
    print(json.dumps({"events": total, "missing": missing, "late": waits[-pace:].mean()} | quantiles))


def _await(address: str, topic: str, arrived: Any) -> None:
    """Note the arrival of each prediction, until all are there or none has come for `_PATIENCE` seconds."""
    consumer = Consumer(
        {"bootstrap.servers": address, "group.id": "unused", "enable.auto.commit": False, "fetch.wait.max.ms": 100}
    )
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    left, heard = arrived.size, time.perf_counter()
    while left and time.perf_counter() - heard < _PATIENCE:
        message = consumer.poll(0.1)
        if message is None or message.error() is not None:
            continue
        found = [message, *consumer.consume(1000, 0)]
        heard = time.perf_counter()
        for one in found:
            arrived[int(one.key())] = heard
        left -= len(found)
    consumer.close()


def _producer(address: str, linger: int) -> Producer:
    return Producer(
        {
            "bootstrap.servers": address,
            "linger.ms": linger,
            "queue.buffering.max.messages": 1_000_000,
            "batch.size": 500_000,
        }
    )


def _blocks(events: int, options: dict[str, str]) -> Any:
    stream = SyntheticStream(parse_options({"labels": "4", "seed": "1", "events": str(events)} | options))
    for begin in range(0, events, 10_000):
        data, _ = stream.lines(begin, min(begin + 10_000, events))
        yield data.split(b"\n")[:-1]


if __name__ == "__main__":
    main()
