"""What texts without a label are worth: naive Bayes with and without them, on streams with most labels hidden.

    python -m benchmarks.unlabelled FOLDER [--accurate] [--masks N] [STREAM ...]

FOLDER holds streams as NAME.jsonl.gz. For each stream and share of labels shown, N masks (5) hide labels at random.
Printed are accuracies in per cent over all events, also those with a hidden label: without such texts, with them, the
mean gain, and that of the worst mask; with --accurate those of the preset's mixture, with the option in the place of
naive Bayes on words.
"""

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin import NaiveBayes, Pipeline
from streamlin.config.presets import PRESETS

CAPS = [0.3, 1.0]
SHARES = (0.01, 0.05, 0.2)
PLAIN: dict[str, Any] = {"smoothing": "prior", "alpha": 3.0}


def read(path: Path) -> tuple[list[str], list[str]]:
    """The texts and labels of a stream."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        events = [json.loads(line) for line in lines]
    return [event["text"] for event in events], [event["label"] for event in events]


def alone(texts: list[str], labels: list[str | None]) -> list[list[Any]]:
    """The predictions of naive Bayes, without and with the option."""
    return [NaiveBayes(**PLAIN, unlabelled=caps).learn_many(texts, labels) for caps in (None, CAPS)]


def in_the_preset(texts: list[str], labels: list[str | None]) -> list[list[Any]]:
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


def cell(texts: list[str], labels: list[str], share: float, masks: int, accurate: bool) -> NDArray[np.float64]:
    """float64[masks, 2]: accuracies without and with the option, in per cent."""
    found = []
    for seed in range(masks):
        shown = np.random.default_rng(seed).random(len(labels)) < share
        masked = [label if show else None for label, show in zip(labels, shown.tolist(), strict=True)]
        predicted = (in_the_preset if accurate else alone)(texts, masked)
        found.append([100 * np.mean([a == b for a, b in zip(one, labels, strict=True)]) for one in predicted])
    return np.array(found)


def main() -> None:
    """Print a line for each stream."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("streams", nargs="*")
    parser.add_argument("--accurate", action="store_true")
    parser.add_argument("--masks", type=int, default=5)
    asked = parser.parse_intermixed_args()
    streams = asked.streams or sorted(path.name.removesuffix(".jsonl.gz") for path in asked.folder.glob("*.jsonl.gz"))
    for name in streams:
        texts, labels = read(asked.folder / f"{name}.jsonl.gz")
        cells = [cell(texts, labels, share, asked.masks, asked.accurate) for share in SHARES]
        gains = [found[:, 1] - found[:, 0] for found in cells]
        columns = [
            " / ".join(f"{found[:, 0].mean():.1f}" for found in cells),
            " / ".join(f"{found[:, 1].mean():.1f}" for found in cells),
            " / ".join(f"{gain.mean():+.1f} ({gain.min():+.1f})" for gain in gains),
        ]
        print(f"| {name} | {' | '.join(columns)} |", flush=True)


if __name__ == "__main__":
    main()
