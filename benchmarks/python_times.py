"""The learners of river and scikit-learn, and ours in their place.

`python -m benchmarks.python_times FOLDER REPEAT`, where FOLDER has `2.jsonl` and `4.jsonl`, streams of as many
labels. All get the same tokens. Theirs and ours take turns in one process, each time with a new model; the result is
JSON on standard output.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from river import feature_extraction, linear_model, multiclass, naive_bayes
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

from benchmarks.peer_events import read
from streamlin import View, ViewConfig, river, sklearn

VIEW = View(ViewConfig(tokens="whitespace", ngrams=(1, 1), lowercase=False, values="counts"), bits=18)


class Case(NamedTuple):
    """theirs, ours : make a model. drive : lets it predict and learn texts with labels."""

    name: str
    labels: int
    texts: int
    goal: str
    theirs: Callable[[], Any]
    ours: Callable[[], Any]
    drive: Callable[[Any, Sequence[str], Sequence[Any]], None]


def main() -> None:
    folder, repeat = sys.argv[1:]
    events = {labels: read(f"{folder}/{labels}.jsonl") for labels in (2, 4)}
    found: list[dict[str, Any]] = [
        {"name": case.name, "labels": case.labels, "texts": case.texts, "goal": case.goal, "runs": []} for case in CASES
    ]
    for number in range(-1, int(repeat)):  # the first one compiles
        for case, row in zip(CASES, found, strict=True):
            chosen = events[case.labels][: case.texts]
            texts, labels = [event.text for event in chosen], [event.label for event in chosen]
            run = [_seconds(case.drive, make(), texts, labels) for make in (case.theirs, case.ours)]
            if number >= 0:
                row["runs"].append(run)
    print(json.dumps(found))


def _seconds(drive: Callable[..., None], model: Any, texts: list[str], labels: list[str]) -> float:
    begin = time.perf_counter()
    drive(model, texts, labels)
    return time.perf_counter() - begin


def _bag() -> feature_extraction.BagOfWords:
    """River's fastest transformer of texts."""
    return feature_extraction.BagOfWords(tokenizer=str.split, lowercase=False, strip_accents=False)


def _one_by_one(model: Any, texts: Sequence[str], labels: Sequence[Any]) -> None:
    for text, label in zip(texts, labels, strict=True):
        model.predict_one(text)
        model.learn_one(text, label)


def _true_or_false(model: Any, texts: Sequence[str], labels: Sequence[str]) -> None:
    """For binary models, whose labels are booleans."""
    _one_by_one(model, texts, [label == labels[0] for label in labels])


class _Hashed:
    """scikit-learn's vectorizer and classifier."""

    def __init__(self, labels: int) -> None:
        self._classes = [f"label{code}" for code in range(labels)]
        self._words = HashingVectorizer(analyzer=str.split, n_features=1 << VIEW.bits)
        self._model = SGDClassifier(loss="log_loss")

    def partial_fit(self, texts: Sequence[str], labels: Sequence[str]) -> None:
        self._model.partial_fit(self._words.transform(texts), labels, classes=self._classes)


def _in_batches(size: int) -> Callable[[Any, Sequence[str], Sequence[str]], None]:
    def drive(model: Any, texts: Sequence[str], labels: Sequence[str]) -> None:
        for begin in range(0, len(texts), size):
            model.partial_fit(texts[begin : begin + size], labels[begin : begin + size])

    return drive


def _river(name: str, theirs: Callable[[], Any], ours: Callable[..., Any], labels: int) -> list[Case]:
    """Ours on texts, and ours behind their transformer, which then takes most of the time."""
    drive = _one_by_one if labels > 2 else _true_or_false

    def piped() -> Any:
        return _bag() | theirs()

    return [
        Case(f"BagOfWords, {name}: ours on texts", labels, 1_000, "≥ 3", piped, partial(ours, features=VIEW), drive),
        Case(
            f"{name} behind BagOfWords: ours there",
            labels,
            1_000,
            "",
            piped,
            lambda: _bag() | ours(features=VIEW),
            drive,
        ),
    ]


def _each(model: Callable[[], Any]) -> Callable[[], Any]:
    """One model per label."""
    return lambda: multiclass.OneVsRestClassifier(model())


def _sklearn(labels: int, size: int, texts: int, goal: str) -> Case:
    name = f"HashingVectorizer, SGDClassifier, batches of {size:,}: ours on texts"
    theirs, ours = partial(_Hashed, labels), partial(sklearn.LogisticRegression, features=VIEW)
    return Case(name, labels, texts, goal, theirs, ours, _in_batches(size))


LINEAR: list[tuple[str, Callable[[], Any], Callable[..., Any]]] = [
    ("Perceptron", linear_model.Perceptron, river.Perceptron),
    ("PAClassifier", linear_model.PAClassifier, river.PassiveAggressive),
    ("LogisticRegression", linear_model.LogisticRegression, river.LogisticRegression),
]
CASES = [
    *_river("MultinomialNB", naive_bayes.MultinomialNB, river.NaiveBayes, 2),
    *_river("MultinomialNB", naive_bayes.MultinomialNB, river.NaiveBayes, 4),
    *(case for name, theirs, ours in LINEAR for case in _river(name, theirs, ours, 2)),
    *(case for name, theirs, ours in LINEAR for case in _river(f"OneVsRest {name}", _each(theirs), ours, 4)),
    *(_sklearn(labels, 1, 200, "≥ 50") for labels in (2, 4)),
    *(_sklearn(labels, 1_000, 10_000, "≥ 2") for labels in (2, 4)),
]


if __name__ == "__main__":
    main()
