"""streamlin from Python, event by event: `python -m tests.benchmarks.peer_api LEARNER STREAM LIMIT`."""

import json
import sys
import time
from typing import Any

from streamlin.config import ViewConfig
from streamlin.features import View
from streamlin.learners import KINDS
from tests.benchmarks.peer_events import Event, counted, read


def main() -> None:
    kind, path, limit = sys.argv[1:]
    events = read(path, int(limit) or None)
    _predictions(_learner(kind), events[:10])  # compiles
    learner = _learner(kind)
    begin = time.perf_counter()
    predicted = _predictions(learner, events)
    seconds = time.perf_counter() - begin
    right = [p == event.label for p, event in zip(predicted, events, strict=True)]
    print(json.dumps({"seconds": seconds} | counted(events, right)))


def _learner(kind: str) -> Any:
    view = View(ViewConfig(tokens="whitespace", ngrams=(1, 1)))
    return KINDS[kind](features=view)  # type: ignore[call-arg]


def _predictions(learner: Any, events: list[Event]) -> list[str | None]:
    """Predict, then learn, one by one."""
    predicted = []
    for event in events:
        predicted.append(learner.predict_one(event.text))
        learner.learn_one(event.text, event.label)
    return predicted


if __name__ == "__main__":
    main()
