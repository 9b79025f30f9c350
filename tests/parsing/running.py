"""Trees, and running parsers on them as a pipeline does."""

import gzip
import json
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from streamlin.config import RunConfig
from streamlin.evaluation.parsing import TreePredictions
from streamlin.evaluation.report import report_of
from streamlin.events import Batch, single_records
from streamlin.formats.lengths import Lengths
from streamlin.formats.trees import Tree, columns_of_trees, read_tree
from streamlin.parsing.model import ParsingModel


class Parse(NamedTuple):
    """A sentence's words, its tree (None where there is none), and a weight."""

    words: list[str]
    tree: Tree | None
    weight: float = 1.0


def sentence(text: str, weight: float = 1.0) -> Parse:
    """A tree in brackets as a sentence."""
    tree = read_tree(text)
    return Parse(tree.words, tree, weight)


@cache
def real_trees(path: Path, n: int) -> list[Parse]:
    """The first n trees of a `.jsonl.gz`."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        return [sentence(json.loads(line)["tree"]) for line in islice(lines, n)]


def roughened(sentences: Sequence[Parse], seed: int = 0) -> list[Parse]:
    """The sentences with some trees hidden, some sentences emptied, of various weights."""
    random, rough = np.random.default_rng(seed), []
    for words, tree, _ in sentences:
        weight = float(random.choice([1.0, 1.0, 1.0, 0.0, 0.5, 2.0]))
        chance = random.random()
        rough.append(Parse([] if chance < 0.03 else words, None if chance < 0.15 else tree, weight))
    return rough


def batch_of(sentences: Sequence[Parse]) -> Batch:
    """Sentences as columns."""
    trees, words = [s.tree for s in sentences], [s.words for s in sentences]
    labels, (texts, bounds, beside) = columns_of_trees(trees, words, Lengths())
    n = len(sentences)
    return Batch(
        ids=[f"s{i}" if i % 3 else None for i in range(n)],
        texts=texts,
        labels=labels,
        weights=np.array([s.weight for s in sentences], np.float64),
        times=np.full(n, np.nan),
        extra={},
        records=single_records([b"."] * n),
        kept=np.arange(n),
        pieces=bounds,
        tokens=beside,
    )


def new_model(*learners: dict[str, Any], **tables: Any) -> ParsingModel:
    """A model with parsers of these parameters; one of the default ones by default."""
    own = [{"kind": "pcfg"} | learner for learner in learners or ({},)]
    return ParsingModel(RunConfig(task="parsing", learners=own, **tables))


def steps(model: ParsingModel, whole: Batch, size: int) -> Iterator[tuple[Batch, TreePredictions]]:
    """Predict, then learn all of them, in batches of a size."""
    for first in range(0, len(whole), size):
        batch = whole[first : first + size]
        yield model.step(batch, model.featurize(batch))


def learn(model: ParsingModel, sentences: Sequence[Parse] | Batch, size: int = 64) -> bytes:
    """The lines of all sentences."""
    whole = sentences if isinstance(sentences, Batch) else batch_of(sentences)
    lines = model.lines()
    return b"".join(bytes(lines.encode(*step).text) for step in steps(model, whole, size))


def predict(model: ParsingModel, *texts: str) -> list[dict[str, Any]]:
    """The lines of sentences, given as words with blanks between, without learning."""
    batch = batch_of([Parse(text.split(), None) for text in texts])
    encoded = model.lines().encode(*model.predict(batch, model.featurize(batch)))
    return [json.loads(line) for line in bytes(encoded.text).splitlines()]


def assert_same_model(model: ParsingModel, other: ParsingModel) -> None:
    """The same arrays, bit for bit, symbols, labels and report."""
    (arrays, rest), (other_arrays, other_rest) = model.state(), other.state()
    assert arrays.keys() == other_arrays.keys()
    for name, array in arrays.items():
        assert_array_equal(array, other_arrays[name], err_msg=name, strict=True)
    assert rest == other_rest
    reports = [json.dumps(report_of(one.prequential, one.labels)) for one in (model, other)]
    assert reports[0] == reports[1]


def restored(model: ParsingModel, config: RunConfig) -> ParsingModel:
    """A new model with the state of another one, which went through JSON and bytes."""
    arrays, rest = model.state()
    other = ParsingModel(config)
    layout = {name: (array.dtype, array.shape) for name, array in arrays.items()}
    expected = other.expected(layout, len(rest["labels"]))
    assert expected.keys() == arrays.keys()
    for name, array in arrays.items():
        assert expected[name].fits(*layout[name]), name
        assert expected[name].within(array), name
    other.restore({name: _copied(array) for name, array in arrays.items()}, json.loads(json.dumps(rest)))
    return other


def _copied(array: NDArray[Any]) -> NDArray[Any]:
    return np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape)
