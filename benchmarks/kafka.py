"""Live from a real broker on the same machine: speed, latency, memory, and the cost of checkpoints."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.processes import STREAMLIN, log, repetitions, reported, run, streamlin
from benchmarks.tables import spread, table
from deploy.kafka.broker import Broker

CLIENTS = ("kafka-python", "confluent")
EVENTS, MANY = 1_000_000, 5_000_000
RATE, SECONDS = 10_000, 60
_OFFER = (str(RATE), str(SECONDS))


def measure(folder: Path, repeat: int) -> dict[str, Any]:
    """Run all parts with one broker."""
    broker = Broker(folder / "broker")
    broker.start()
    try:
        _load("fill", broker.address, "events", str(EVENTS))
        _live(folder, broker.address, CLIENTS[0], 1, 0, 20_000)  # compiles
        return {
            "speed": _speed(folder, broker.address, repeat),
            "latency": {client: _latency(folder, broker.address, client) for client in CLIENTS},
            "memory": _memory(folder, broker.address),
        }
    finally:
        broker.stop()


def text(figures: dict[str, Any]) -> str:
    """Three tables."""
    return "\n\n".join(
        [_speed_text(figures["speed"]), _latency_text(figures["latency"]), _memory_text(figures["memory"])]
    )


def _speed(folder: Path, address: str, repeat: int) -> list[dict[str, Any]]:
    """All five learners from topic to topic, with a checkpoint at the end, or every 5 s as well, to see its cost."""
    cases = [(client, longest, every) for longest in (1, 2) for client in CLIENTS for every in (0, 5)]
    found: list[dict[str, Any]] = [
        {"client": client, "longest": longest, "checkpoint": every, "rates": []} for client, longest, every in cases
    ]
    for _ in repetitions(repeat, "kafka"):
        for case, row in zip(cases, found, strict=True):
            row["rates"].append(_live(folder, address, *case, EVENTS))
    return found


def _live(folder: Path, address: str, client: str, longest: int, every: int, events: int) -> float:
    """Events per second, from the first poll to the last acknowledgement."""
    state = folder / f"state-{time.monotonic_ns()}"
    _, report = reported(
        folder,
        f"kafka://{address}/events?stop=end&client={client}",
        *("--predictions", f"kafka://{address}/predictions?client={client}"),
        *("--set", f"features.words.ngrams=[1, {longest}]", "--set", "checkpoint.every_events=1000000000"),
        *("--limit", str(events), "--checkpoint", str(state)),
        *("--set", f"checkpoint.every_seconds={every or 1_000_000}"),
    )
    shutil.rmtree(state)
    assert report["events"] == events
    return float(report["events_per_second"])


def _speed_text(rows: list[dict[str, Any]]) -> str:
    return table(
        ["client", "n-grams", "checkpoint", "events/s"],
        [
            [
                row["client"],
                f"[1, {row['longest']}]",
                f"every {row['checkpoint']} s" if row["checkpoint"] else "at the end",
                spread(row["rates"]),
            ]
            for row in rows
        ],
        left=3,
    )


def _latency(folder: Path, address: str, client: str) -> dict[str, float]:
    """Offer events at a steady rate; checkpoints at their default, which comes to one every 5 s here."""
    log(f"kafka: {RATE:,} events/s offered for {SECONDS} s, {client}")
    offered, answered = f"offered-{client}", f"answered-{client}"
    for topic in (offered, answered):
        _load("fill", address, topic, "0")
    process = subprocess.Popen(
        [
            STREAMLIN,
            *("run", f"kafka://{address}/{offered}?client={client}&wait_for_topic=true"),
            *("--predictions", f"kafka://{address}/{answered}?client={client}"),
            *("--checkpoint", str(folder / f"latency-{client}"), "--set", "features.words.ngrams=[1, 1]"),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(5)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.kafka_load", "offer", address, offered, answered, *_OFFER],
            capture_output=True,
            check=True,
        )
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _latency_text(figures: dict[str, dict[str, float]]) -> str:
    shares = ("p50", "p90", "p99", "p99.9", "p100")
    return table(
        ["client", "offered", *(f"{share}, ms" for share in shares[:-1]), "longest, ms"],
        [
            [client, f"{RATE:,} events/s, {SECONDS} s", *(f"{1000 * row[share]:.1f}" for share in shares)]
            for client, row in figures.items()
        ],
        left=2,
    )


def _memory(folder: Path, address: str) -> list[dict[str, Any]]:
    """Peak memory of a short and of a long run over the same vocabulary."""
    _load("fill", address, "many", str(MANY), "vocabulary=1000")
    found = []
    for client in CLIENTS:
        for events in (MANY // 5, MANY):
            log(f"kafka: memory, {client}, {events:,} events")
            finished = streamlin(
                *("run", f"kafka://{address}/many?stop=end&client={client}", "--limit", str(events)),
                *("--predictions", f"kafka://{address}/predictions?client={client}"),
                *("--set", "features.words.ngrams=[1, 1]", "--checkpoint", str(folder / f"memory-{client}-{events}")),
            )
            found.append({"client": client, "events": events, "peak": finished.peak_bytes})
    return found


def _memory_text(rows: list[dict[str, Any]]) -> str:
    return table(
        ["client", "events", "peak resident MB"],
        [[row["client"], f"{row['events']:,}", f"{row['peak'] / 1e6:,.0f}"] for row in rows],
    )


def _load(*arguments: str) -> None:
    run(sys.executable, "-m", "benchmarks.kafka_load", *arguments)
