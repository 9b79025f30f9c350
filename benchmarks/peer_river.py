"""river in its own process: `python -m benchmarks.peer_river MODEL STREAM LIMIT GIVEN`.

LIMIT 0 means no limit. Each text is turned into counts of tokens once, for prediction and learning; if GIVEN is
`mappings` instead of `texts`, this happens before the clock starts. A binary model is wrapped one-versus-rest, unless
the stream has two labels.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from river import feature_extraction, linear_model, multiclass, naive_bayes, optim

from benchmarks.peer_events import counted, read

MODELS: dict[str, Callable[[], Any]] = {
    "MultinomialNB": naive_bayes.MultinomialNB,
    "Perceptron": linear_model.Perceptron,
    "PAClassifier(C=0.1)": lambda: linear_model.PAClassifier(C=0.1),
    "LogisticRegression(AdaGrad(0.1))": lambda: linear_model.LogisticRegression(optim.AdaGrad(0.1)),
    "LogisticRegression()": linear_model.LogisticRegression,
}


def main() -> None:
    name, path, limit, given = sys.argv[1:]
    events = read(path, int(limit) or None)
    labels = list(dict.fromkeys(event.label for event in events))
    model, targets = MODELS[name](), [event.label for event in events]
    if not isinstance(model, naive_bayes.MultinomialNB):
        if len(labels) == 2:
            targets = [target == labels[0] for target in targets]
        else:
            model = multiclass.OneVsRestClassifier(model)
    words = feature_extraction.BagOfWords(tokenizer=str.split, lowercase=False, strip_accents=False)
    xs: list[Any] = [event.text for event in events]
    if given == "mappings":
        xs = [words.transform_one(text) for text in xs]
    begin = time.perf_counter()
    predicted = _predictions(model, xs, targets, None if given == "mappings" else words)
    seconds = time.perf_counter() - begin
    right = [p == target for p, target in zip(predicted, targets, strict=True)]
    print(json.dumps({"seconds": seconds} | counted(events, right)))


def _predictions(model: Any, xs: list[Any], targets: list[Any], words: Any) -> list[Any]:
    """Predict, then learn, one by one; `words` turns texts into mappings."""
    predicted = []
    for given, target in zip(xs, targets, strict=True):
        x = words.transform_one(given) if words else given
        predicted.append(model.predict_one(x))
        model.learn_one(x, target)
    return predicted


if __name__ == "__main__":
    main()
