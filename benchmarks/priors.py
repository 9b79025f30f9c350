"""What words set by hand are worth in the first events of a stream, and whether they harm later.

`python -m benchmarks.priors STREAM` prints for each learner the mean accuracy over random orders of a stream such as
`rt-polarity.jsonl.gz`, with and without `WORDS`, which were chosen once, by judgement, before anything was measured.
"""

import gzip
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from streamlin import Pipeline
from streamlin.learners import KINDS

WORDS = {
    "neg": "bad worst dull boring mess fails tedious lame pointless flat predictable awful stupid bland waste",
    "pos": "good best funny moving powerful engaging beautiful brilliant delightful charming fascinating wonderful "
    "touching enjoyable masterpiece",
}
PRIORS = {label: dict.fromkeys(words.split(), 1) for label, words in WORDS.items()}
LEARNERS = [
    *KINDS,
    {"kind": "naive_bayes", "name": "naive_bayes by prior", "smoothing": "prior", "alpha": 3.0},
    {"kind": "passive_aggressive", "name": "passive_aggressive averaged", "averaged": True},
    {"kind": "logistic_regression", "name": "logistic_regression by feature", "squares": "feature", "eta": 1.0},
]
CONFIGURATIONS: Mapping[str, Mapping[str, Any]] = {
    "learners": {"learners": LEARNERS},
    "default": {"learners": ["naive_bayes", "passive_aggressive", "logistic_regression", {"kind": "mixture"}]},
    "accurate": {"preset": "accurate"},
}
FIRST, ORDERS, WHOLE_ORDERS = 200, 40, 5


def accuracies(events: Sequence[Mapping[str, Any]], orders: int, n: int, **tables: Any) -> dict[str, float]:
    """Each learner's mean accuracy, in per cent, in the first n events of some random orders."""
    found: dict[str, list[float]] = {}
    for seed in range(orders):
        order = np.random.default_rng(seed).permutation(len(events))[:n]
        pipeline = Pipeline(evaluation={"metrics": "accuracy"}, **tables)
        pipeline.learn_many([events[i]["text"] for i in order], [events[i]["label"] for i in order])
        for name, row in pipeline.metrics["learners"].items():
            found.setdefault(name, []).append(100 * row["accuracy"])
    return {name: float(np.mean(values)) for name, values in found.items()}


def main(path: Path) -> None:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        events = [json.loads(line) for line in lines]
    named = {word for words in PRIORS.values() for word in words}
    share = np.mean([bool(named & set(event["text"].lower().split())) for event in events])
    print(f"texts with one of the words: {100 * share:.1f} %")
    for title, tables in CONFIGURATIONS.items():
        for orders, n in ((ORDERS, FIRST), (WHOLE_ORDERS, len(events))):
            rows = [accuracies(events, orders, n, **tables)]
            strengths = (3, 10, 30) if n == FIRST else (10,)
            rows += [accuracies(events, orders, n, **tables, priors={"strength": s} | PRIORS) for s in strengths]
            print(f"{title}, first {n} events, {orders} orders, without and with strength {strengths}")
            for name in rows[0]:
                print(f"  {name:<32}" + "".join(f"{row[name]:8.1f}" for row in rows), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
