"""streamlin from Python, event by event: `python -m benchmarks.peer_api LEARNER STREAM LIMIT GIVEN`.

GIVEN is `texts` or `mappings`; mappings are counts of tokens, made before the clock starts.
"""

import json
import sys
import time
from collections import Counter
from typing import Any

from benchmarks.peer_events import counted, read
from streamlin.config import ViewConfig
from streamlin.features import View
from streamlin.learners import KINDS


def main() -> None:
    kind, path, limit, given = sys.argv[1:]
    events = read(path, int(limit) or None)
    xs = [Counter(event.text.split()) if given == "mappings" else event.text for event in events]
    labels = [event.label for event in events]
    _predictions(_learner(kind), xs[:10], labels[:10])  # compiles
    learner = _learner(kind)
    begin = time.perf_counter()
    predicted = _predictions(learner, xs, labels)
    seconds = time.perf_counter() - begin
    right = [p == event.label for p, event in zip(predicted, events, strict=True)]
    print(json.dumps({"seconds": seconds} | counted(events, right)))


def _learner(kind: str) -> Any:
    view = View(ViewConfig(tokens="whitespace", ngrams=(1, 1)))
    return KINDS[kind](features=view)  # type: ignore[call-arg]


def _predictions(learner: Any, xs: list[Any], labels: list[str]) -> list[str | None]:
    """Predict, then learn, one by one."""
    predicted = []
    for x, label in zip(xs, labels, strict=True):
        predicted.append(learner.predict_one(x))
        learner.learn_one(x, label)
    return predicted


if __name__ == "__main__":
    main()
