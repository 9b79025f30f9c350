"""Vowpal Wabbit's search and CRFsuite on sentences, each in its own process, with streamlin's features or their own.

`convert STREAM FILE TAGS COLUMNS ours|own` writes VW's format: a line per token, an empty line after each sentence.
`drive FILE PREDICTIONS OPTIONS` lets VW's C++ driver read it. `crfsuite STREAM TAGS COLUMNS PASSES TEST PREDICTIONS`
trains CRFsuite's averaged perceptron on a stream's sentences and tags those of TEST.
"""

import json
import sys
import time
from collections.abc import Sequence
from itertools import pairwise

from streamlin.config import FieldsConfig
from streamlin.events import Batch, single_records
from streamlin.features.text_tokens import cutter
from streamlin.formats.json_sentences import JsonSentences
from streamlin.tagging.features import TokenView

BITS = 22


def main() -> None:
    command, *arguments = sys.argv[1:]
    print(json.dumps({"convert": convert, "drive": drive, "crfsuite": crfsuite}[command](*arguments)))


def convert(stream: str, path: str, tags: str, columns: str, features: str) -> dict[str, float]:
    """Seconds that the conversion takes. Tags are numbered from 1 in order of first sight, over all of the stream."""
    begin = time.perf_counter()
    batch = _batch(stream, tags, columns)
    assert batch.tokens is not None
    codes: dict[str | None, int] = {}
    numbers = [codes.setdefault(tag, len(codes) + 1) for tag in batch.tokens.tags]
    named = _ours(batch, columns) if features == "ours" else [f"|w {_escaped(token)}" for token in batch.texts]
    with open(path, "w", encoding="utf-8") as target:
        for first, last in _bounds(batch):
            target.writelines(f"{numbers[t]} {named[t]}\n" for t in range(first, last))
            target.write("\n")
    return {"seconds": time.perf_counter() - begin, "tags": len(codes)}


def drive(path: str, predictions: str, *options: str) -> dict[str, float]:
    """Seconds from before the start of the driver until everything is written."""
    from vowpalwabbit import Workspace

    begin = time.perf_counter()
    Workspace(arg_list=[*options, "-d", path, "-p", predictions, "--quiet"]).finish()
    return {"seconds": time.perf_counter() - begin}


def crfsuite(stream: str, tags: str, columns: str, passes: str, test: str, predictions: str) -> dict[str, float]:
    """Seconds of training, and its tokens; the predicted tags of the test sentences are written as JSON lines."""
    import pycrfsuite

    batch = _batch(stream, tags, columns)
    assert batch.tokens is not None
    trainer = pycrfsuite.Trainer("averaged-perceptron", {"max_iterations": int(passes)}, verbose=False)
    for features, own in _items(batch, columns):
        trainer.append(features, own)
    begin = time.perf_counter()
    trainer.train(f"{predictions}.model")
    seconds = time.perf_counter() - begin
    tagger = pycrfsuite.Tagger()
    tagger.open(f"{predictions}.model")
    with open(predictions, "w", encoding="utf-8") as target:
        for features, _ in _items(_batch(test, tags, columns), columns):
            target.write(json.dumps(tagger.tag(features)) + "\n")
    return {"seconds": seconds, "tokens": len(batch.tokens.tags)}


def _items(batch: Batch, columns: str) -> list[tuple[list[list[str]], list[str]]]:
    """For each sentence the features and the tag of each token."""
    assert batch.tokens is not None
    rows = [[str(bucket) for bucket in row] for row in _view(columns).buckets(batch).buckets.tolist()]
    tags = [str(tag) for tag in batch.tokens.tags]
    return [(rows[first:last], tags[first:last]) for first, last in _bounds(batch)]


def _batch(stream: str, tags: str, columns: str) -> Batch:
    fields = FieldsConfig(tags=tags, columns=tuple(columns.split()))
    with open(stream, "rb") as file:
        lines = file.read().splitlines()
    batch, dead = JsonSentences({}, fields, (), cutter("words")).decode(single_records(lines))
    if dead:
        raise ValueError(dead[0].error)
    return batch


def _view(columns: str) -> TokenView:
    return TokenView(BITS, tuple(columns.split()))


def _ours(batch: Batch, columns: str) -> list[str]:
    """streamlin's features of each token, by their bucket."""
    return [f"| {' '.join(map(str, row))}" for row in _view(columns).buckets(batch).buckets.tolist()]


def _bounds(batch: Batch) -> Sequence[tuple[int, int]]:
    assert batch.pieces is not None
    return list(pairwise(batch.pieces.tolist()))


def _escaped(token: str) -> str:
    return token.replace(":", "<colon>").replace("|", "<bar>").replace(" ", "_")


if __name__ == "__main__":
    main()
