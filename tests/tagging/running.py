"""Sentences, and running taggers on them as a pipeline does."""

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from streamlin.config import RunConfig
from streamlin.evaluation.report import report_of
from streamlin.events import Batch, single_records
from streamlin.formats.tokens import sentences as columns_of
from streamlin.tagging.lines import TagLines
from streamlin.tagging.model import TaggingModel

Tags = list[str | None]
ALL = ("crf", "log_linear", "structured_perceptron", "hmm")


class Sentence(NamedTuple):
    """Tokens, their tags (None where unknown), and a weight."""

    tokens: list[str]
    tags: Tags
    weight: float = 1.0


class Outcome(NamedTuple):
    """Of some sentences: each tagger's tags, [learner][sentence], its probabilities float64[L, n], and the lines."""

    tags: list[list[Tags]]
    confidences: NDArray[np.float64]
    lines: bytes


@cache
def real_sentences(path: Path, n: int) -> list[Sentence]:
    """The first n sentences of a `.jsonl.gz`."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        return [Sentence(event["tokens"], event["tags"]) for event in map(json.loads, islice(lines, n))]


def roughened(sentences: Sequence[Sentence], seed: int = 0) -> list[Sentence]:
    """The sentences with some tags hidden, or all, some emptied or cut to a token; of various weights."""
    random = np.random.default_rng(seed)
    rough = []
    for tokens, tags, _ in sentences:
        size = int(random.choice([0, 1, len(tokens)], p=[0.04, 0.06, 0.9]))
        hidden = random.random(size) < random.choice([0.0, 0.3, 1.0], p=[0.8, 0.1, 0.1])
        kept = [None if hide else tag for tag, hide in zip(tags, hidden, strict=False)]
        rough.append(Sentence(tokens[:size], kept, float(random.choice([1.0, 1.0, 1.0, 0.0, 0.5, 2.0]))))
    return rough


def by_row(tagger: Any, name: str, n: int) -> NDArray[np.float32]:
    """The first n features' rows of a table; zeros for a feature that was not learned."""
    slots, table = tagger.slots[:n], getattr(tagger, name)
    return np.where(slots[:, None] >= 0, table[np.maximum(slots, 0)], np.float32(0.0))


def batch_of(sentences: Sequence[Sentence]) -> Batch:
    """Sentences as columns."""
    texts, bounds, beside = columns_of([s.tokens for s in sentences], [s.tags for s in sentences], {})
    n = len(sentences)
    return Batch(
        ids=[f"s{i}" if i % 3 else None for i in range(n)],
        texts=texts,
        labels=[None] * n,
        weights=np.array([s.weight for s in sentences], np.float64),
        times=np.full(n, np.nan),
        extra={},
        records=single_records([b"."] * n),
        kept=np.arange(n),
        pieces=bounds,
        tokens=beside,
    )


def new_model(*learners: str | dict[str, Any], **tables: Any) -> TaggingModel:
    """A model with taggers of these kinds or tables."""
    own = [{"kind": learner} if isinstance(learner, str) else learner for learner in learners]
    return TaggingModel(RunConfig(task="tagging", learners=own, **tables))


def learn(model: TaggingModel, sentences: Sequence[Sentence] | Batch, size: int = 64) -> Outcome:
    """Predict, then learn all of them, in batches of a size."""
    whole = sentences if isinstance(sentences, Batch) else batch_of(sentences)
    outcomes = []
    for first in range(0, len(whole), size):
        batch = whole[first : first + size]
        outcomes.append(_outcome(model, batch, model.step(batch, model.featurize(batch))[1]))
    return joined(outcomes, len(model.names))


def predict(model: TaggingModel, sentences: Sequence[Sentence] | Batch) -> Outcome:
    """Predict without learning."""
    batch = sentences if isinstance(sentences, Batch) else batch_of(sentences)
    return _outcome(model, batch, model.predict(batch, model.featurize(batch))[1])


def joined(outcomes: Sequence[Outcome], learners: int) -> Outcome:
    """Those of sentences that follow each other."""
    return Outcome(
        [[tags for outcome in outcomes for tags in outcome.tags[m]] for m in range(learners)],
        np.concatenate([np.zeros((learners, 0)), *(outcome.confidences for outcome in outcomes)], axis=1),
        b"".join(outcome.lines for outcome in outcomes),
    )


def _outcome(model: TaggingModel, batch: Batch, predictions: Any) -> Outcome:
    lines = bytes(TagLines(model.names, model.labels).encode(batch, predictions).text)
    each = [list(_sentences(model, batch, codes)) for codes in predictions.tags]
    return Outcome(each, predictions.confidences.copy(), lines)


def _sentences(model: TaggingModel, batch: Batch, codes: Iterable[int]) -> Iterator[Tags]:
    names, tags = [*model.labels.names, None], list(codes)
    bounds = batch.pieces.tolist()
    for begin, end in pairwise(bounds):
        yield [names[code] for code in tags[begin:end]]


def assert_same_model(model: TaggingModel, other: TaggingModel) -> None:
    """The same arrays, bit for bit, labels and report."""
    (arrays, rest), (other_arrays, other_rest) = model.state(), other.state()
    assert arrays.keys() == other_arrays.keys()
    for name, array in arrays.items():
        assert_array_equal(array, other_arrays[name], err_msg=name, strict=True)
    assert rest == other_rest, (rest, other_rest)
    assert json.dumps(report_of(model.prequential, model.labels)) == json.dumps(
        report_of(other.prequential, other.labels)
    )


def restored(model: TaggingModel, **tables: Any) -> TaggingModel:
    """A new model with the state of another one, which went through JSON and bytes."""
    arrays, rest = model.state()
    copies = {name: np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape) for name, array in arrays.items()}
    other = TaggingModel(model._config)
    other.restore(copies, json.loads(json.dumps(rest)))
    return other
