"""What texts without a label are worth: naive Bayes with and without them, on streams with most labels hidden.

    python -m benchmarks.unlabelled FOLDER [--accurate] [--words] [--masks N] [STREAM ...]

FOLDER holds streams as NAME.jsonl.gz. For each stream and share of labels shown, N masks (5) hide labels at random.
Printed are accuracies in per cent over all events, also those with a hidden label: without such texts, with them, the
mean gain, and that of the worst mask; with --accurate those of the preset's mixture, with the option in the place of
naive Bayes on words; with --words without words set by hand, with `WORDS`, with them and the option. The words were
chosen once, by judgement, before anything was measured.
"""

import argparse
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import priors
from streamlin import NaiveBayes, Pipeline
from streamlin.config.presets import PRESETS

CAPS = [0.3, 1.0]
SHARES = (0.01, 0.05, 0.2)
WORDS = {
    "clickbait": {
        "news": "killed police president minister court election government dies iraq china",
        "clickbait": "things you your this reasons ways quiz how which actually",
    },
    "subjectivity": {
        "obj": "finds returns decides discovers wife daughter town murder young school",
        "subj": "film movie story funny performances comedy audience entertaining director boring",
    },
    "sms-spam": {
        "ham": "ok lor home sorry later love going come da dear",
        "spam": "free win prize call txt claim urgent cash mobile reply",
    },
    "rt-polarity": priors.WORDS,
}
PLAIN: dict[str, Any] = {"smoothing": "prior", "alpha": 3.0}

Accuracies = NDArray[np.float64]
Predict = Callable[[str, list[str], list[str | None]], list[list[Any]]]


def read(path: Path) -> tuple[list[str], list[str]]:
    """The texts and labels of a stream."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        events = [json.loads(line) for line in lines]
    return [event["text"] for event in events], [event["label"] for event in events]


def named(folder: Path) -> list[str]:
    """The streams of texts in a folder."""
    found = []
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            if "text" in json.loads(next(lines)):
                found.append(path.name.removesuffix(".jsonl.gz"))
    return found


def alone(name: str, texts: list[str], labels: list[str | None]) -> list[list[Any]]:
    """The predictions of naive Bayes, without and with the option."""
    return [NaiveBayes(**PLAIN, unlabelled=caps).learn_many(texts, labels) for caps in (None, CAPS)]


def with_words(name: str, texts: list[str], labels: list[str | None]) -> list[list[Any]]:
    """The predictions of naive Bayes: without words set by hand, with them, and with them and the option."""
    words = {label: dict.fromkeys(words.split(), 1.0) for label, words in WORDS[name].items()}
    learners = [NaiveBayes(**PLAIN), *(NaiveBayes(**PLAIN, unlabelled=caps).set_priors(words) for caps in (None, CAPS))]
    return [learner.learn_many(texts, labels) for learner in learners]


def in_the_preset(name: str, texts: list[str], labels: list[str | None]) -> list[list[Any]]:
    """The predictions of two mixtures: that of the preset, and one with the option in naive Bayes' place."""
    preset = PRESETS["accurate"]
    *members, mixture = preset["learners"]
    names = [member.get("name", member["kind"]) for member in members]
    soft = members[0] | {"name": "soft", "unlabelled": CAPS}
    learners = [
        *members,
        soft,
        mixture | {"name": "before", "members": names},
        mixture | {"name": "after", "members": ["soft", *names[1:]]},
    ]
    pipeline = Pipeline(features=preset["features"], learners=learners)
    events = [{"text": text, "label": label} for text, label in zip(texts, labels, strict=True)]
    rows = [prediction.learners for prediction in pipeline.run(events)]
    return [[row[name] for row in rows] for name in ("before", "after")]


def cell(name: str, predict: Predict, texts: list[str], labels: list[str], share: float, seeds: range) -> Accuracies:
    """The accuracies, in per cent, for each mask, by its seed, and variant."""
    found = []
    for seed in seeds:
        shown = np.random.default_rng(seed).random(len(labels)) < share
        masked = [label if show else None for label, show in zip(labels, shown.tolist(), strict=True)]
        predicted = predict(name, texts, masked)
        found.append([100 * np.mean([a == b for a, b in zip(one, labels, strict=True)]) for one in predicted])
    return np.array(found)


def line(name: str, folder: Path, predict: Predict, masks: int) -> str:
    """The line of a stream."""
    texts, labels = read(folder / f"{name}.jsonl.gz")
    shares = (0.0, *SHARES) if predict is with_words else SHARES
    cells = [cell(name, predict, texts, labels, share, range(masks if share else 1)) for share in shares]
    variants = zip(*(found.mean(axis=0) for found in cells), strict=True)
    columns = [" / ".join(f"{one:.1f}" for one in variant) for variant in variants]
    gains = [found[:, -1] - found[:, 0] for found in cells]
    columns.append(" / ".join(f"{gain.mean():+.1f} ({gain.min():+.1f})" for gain in gains))
    return f"| {name} | {' | '.join(columns)} |"


def main() -> None:
    """Print a line for each stream."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("streams", nargs="*")
    parser.add_argument("--accurate", action="store_const", const=in_the_preset, dest="predict", default=alone)
    parser.add_argument("--words", action="store_const", const=with_words, dest="predict")
    parser.add_argument("--masks", type=int, default=5)
    asked = parser.parse_intermixed_args()
    for name in asked.streams or (sorted(WORDS) if asked.predict is with_words else named(asked.folder)):
        print(line(name, asked.folder, asked.predict, asked.masks), flush=True)


if __name__ == "__main__":
    main()
