"""Prepared streams: how the processes of the peers read them and count correct predictions.

`python -m benchmarks.peer_events STREAM PREDICTIONS` counts the correct ones among streamlin's prediction lines.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple


class Event(NamedTuple):
    text: str
    label: str
    split: str | None


def main() -> None:
    stream, predictions = sys.argv[1:]
    with open(predictions, encoding="utf-8") as file:
        predicted = [json.loads(line)["predicted"] for line in file]
    events = read(stream)
    print(json.dumps(counted(events, [p == event.label for p, event in zip(predicted, events, strict=True)])))


def read(path: str, limit: int | None = None) -> list[Event]:
    """The first `limit` events; None: all."""
    with open(path, encoding="utf-8") as file:
        found = map(json.loads, islice(file, limit))
        return [Event(event["text"], event["label"], event.get("split")) for event in found]


def counted(events: Sequence[Event], right: Iterable[bool]) -> dict[str, Any]:
    """The number of events and of correct predictions, overall and on the test slice, if there is one."""
    hits = list(right)
    tested = [hit for hit, event in zip(hits, events, strict=True) if event.split == "test"]
    test = {"events": len(tested), "right": sum(tested)} if tested else None
    return {"events": len(hits), "right": sum(hits), "test": test}


if __name__ == "__main__":
    main()
