"""The preset `accurate` where few labels are shown, beside its naive Bayes and a mixture that starts otherwise.

    python -m benchmarks.few_labels FOLDER [--start W ...] [--masks N] [--first SEED] [--events N] [STREAM ...]

FOLDER holds streams as NAME.jsonl.gz. For each stream and share of labels shown, N masks (3), from that seed on, hide
labels at random. Printed are accuracies in per cent over the first events (20,000), also those with a hidden label:
of naive Bayes on words, of a mixture that starts with the weights W (all alike if not given), of the preset's; and what
the last has above the better of the two others, with the standard deviation over the masks.
"""

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.unlabelled import SHARES, Predict, cell, named, read
from streamlin import Pipeline
from streamlin.config.presets import PRESETS


def predictions(start: list[float] | None, name: str, texts: list[str], labels: list[str | None]) -> list[list[Any]]:
    """The predictions of naive Bayes, of a mixture that starts with these weights, and of the preset's."""
    preset = PRESETS["accurate"]
    *members, mixture = preset["learners"]
    names = [member.get("name", member["kind"]) for member in members]
    other: dict[str, Any] = {"kind": "mixture", "name": "other", "members": names, "start": start}
    pipeline = Pipeline(features=preset["features"], learners=[*members, mixture, other])
    events = [{"text": text, "label": label} for text, label in zip(texts, labels, strict=True)]
    rows = [prediction.learners for prediction in pipeline.run(events)]
    return [[row[learner] for row in rows] for learner in (names[0], "other", "mixture")]


def line(name: str, folder: Path, predict: Predict, masks: range, n_events: int) -> str:
    """The line of a stream: at each share the three means, and the last's gain with its deviation."""
    texts, labels = (column[:n_events] for column in read(folder / f"{name}.jsonl.gz"))
    columns = []
    for share in SHARES:
        found = cell(name, predict, texts, labels, share, masks)
        bayes, other, now = found.mean(axis=0)
        gains = found[:, 2] - found[:, 0 if bayes > other else 1]
        columns.append(f"{bayes:.1f} / {other:.1f} / {now:.1f} | {gains.mean():+.2f} ± {gains.std(ddof=1):.2f}")
    return f"| {name} | {' | '.join(columns)} |"


def main() -> None:
    """Print a line for each stream."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("streams", nargs="*")
    parser.add_argument("--start", type=float, nargs="+")
    parser.add_argument("--masks", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--events", type=int, default=20_000)
    asked = parser.parse_intermixed_args()
    masks = range(asked.first, asked.first + asked.masks)
    for name in asked.streams or named(asked.folder):
        print(line(name, asked.folder, partial(predictions, asked.start), masks, asked.events), flush=True)


if __name__ == "__main__":
    main()
