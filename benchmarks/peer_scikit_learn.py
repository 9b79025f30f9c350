"""scikit-learn in its own process: `python -m benchmarks.peer_scikit_learn MODEL BATCH STREAM LIMIT`.

A batch is predicted, then learned by `partial_fit`. With BATCH 1 that is test-then-train; with more it is not, since
an event does not profit from those before it in its batch. The first batch is not predicted. All labels are given
beforehand.
"""

import json
import sys
import time
from typing import Any

from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

from benchmarks.peer_events import counted, read

MODELS: dict[str, dict[str, Any]] = {
    "log_loss": {"loss": "log_loss"},
    "perceptron": {"loss": "perceptron", "learning_rate": "constant", "eta0": 1.0, "penalty": None},
    "passive_aggressive": {"loss": "hinge", "learning_rate": "pa1", "eta0": 1.0, "penalty": None},
}
BITS = 18


def main() -> None:
    name, batch, path, limit = sys.argv[1:]
    events = read(path, int(limit) or None)
    texts, labels = [event.text for event in events], [event.label for event in events]
    begin = time.perf_counter()
    predicted = _predictions(SGDClassifier(**MODELS[name], random_state=0), texts, labels, int(batch))
    seconds = time.perf_counter() - begin
    right = [p == label for p, label in zip(predicted, labels, strict=True)]
    print(json.dumps({"seconds": seconds} | counted(events, right)))


def _predictions(model: SGDClassifier, texts: list[str], labels: list[str], batch: int) -> list[str | None]:
    words = HashingVectorizer(analyzer=str.split, n_features=1 << BITS)
    classes = sorted(set(labels))
    predicted: list[str | None] = []
    for begin in range(0, len(texts), batch):
        x, y = words.transform(texts[begin : begin + batch]), labels[begin : begin + batch]
        predicted += model.predict(x).tolist() if begin else [None] * len(y)
        model.partial_fit(x, y, classes=classes)
    return predicted


if __name__ == "__main__":
    main()
