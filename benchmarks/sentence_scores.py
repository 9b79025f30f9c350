"""Scores of predicted tags, the same for every tool: `sentence_scores STREAM TAGS accuracy|F1 PREDICTED FORM`.

PREDICTED has a line for each sentence of STREAM: streamlin's prediction (FORM is lines), a list of tags (tags), or
numbers of tags as Vowpal Wabbit writes them (codes), for which a stream follows whose tags were numbered from 1 on. The
result is JSON on standard output. What starts processes and measures their memory must stay small, so predictions are
read here.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from streamlin.evaluation.tag_spans import count_spans, span_tags
from streamlin.events import LabelIndex


def main() -> None:
    stream, tags, measure, path, form, *numbered = sys.argv[1:]
    true, lines = _tags(stream, tags), Path(path).read_text(encoding="utf-8").split("\n")[:-1]
    predicted: list[Sequence[str | None]]
    if form == "codes":
        names = ["–", *dict.fromkeys(tag for own in _tags(numbered[0], tags) for tag in own)]
        predicted = [[names[int(code)] for code in line.split()] for line in lines]
    else:
        predicted = [json.loads(line)["predicted"] if form == "lines" else json.loads(line) for line in lines]
    print(json.dumps({"score": score(true, predicted, measure == "F1"), "tokens": sum(map(len, true))}))


def _tags(stream: str, tags: str) -> list[list[str]]:
    with open(stream, encoding="utf-8") as file:
        return [json.loads(line)[tags] for line in file]


def score(true: Sequence[Sequence[str]], predicted: Sequence[Sequence[str | None]], spans: bool) -> float:
    """The share of tokens right, or the F1 of spans. Raises ValueError if the lengths differ."""
    labels = LabelIndex()
    pairs = [
        (labels.learn(own), labels.learn(guesses)) for own, guesses in zip(true, predicted, strict=True) if len(own)
    ]
    if any(own.size != guesses.size for own, guesses in pairs):
        raise ValueError("a sentence has more or fewer predicted tags than true ones")
    if not spans:
        return sum(int((own == guesses).sum()) for own, guesses in pairs) / sum(own.size for own, _ in pairs)
    marked = span_tags(["O" if name == "–" else name for name in labels.names])  # –: no tag is known yet
    if marked is None:
        raise ValueError("the tags mark no spans")
    found, total = np.zeros(3, np.int64), np.zeros(3, np.int64)
    for own, guesses in pairs:
        count_spans(own, guesses, marked.kinds, marked.types, found)
        total += found
    return 2 * int(total[2]) / int(total[0] + total[1])


if __name__ == "__main__":
    main()
