"""The contracts of sources, sinks and learners as checks: whoever writes one proves it with these.

Each raises AssertionError that says which promise is broken.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.events import Position, Records, Sink, Source
from streamlin.learners import Learner, best


def check_source(make: Callable[[Mapping[str, Position]], Source], expected: Sequence[bytes]) -> None:
    """Check a source that ends and has one part.

    Parameters
    ----------
    make : positions -> a new source that goes on there; {} is a fresh start.
    expected : the records it must give.
    """
    for limit in (1, 7, 1000):
        found = [record for records in _polled(make({}), limit) for record in _records(records)]
        _same(found, list(expected), f"its records when polled by {limit}")
    for count in sorted({1, len(expected) // 2, len(expected)} - {0}):
        positions = _positions_after(make({}), count)
        _same(json.loads(json.dumps(positions)), positions, "a position must be JSON")
        rest = [record for records in _polled(make(positions), 7) for record in _records(records)]
        _same(rest, list(expected[count:]), f"what it gives after a resume behind record {count}")
    source = make({})
    source.close()
    source.close()


def check_sink(make: Callable[[int | None], Sink], read: Callable[[], bytes]) -> None:
    """Check a sink whose content can be read back.

    Parameters
    ----------
    make : length -> the sink, cut back to that length; None is a fresh start.
    read : what a reader finds in it.
    """
    sink = make(None)
    sink.write(b"one\n")
    sink.write(memoryview(b"two\n"))
    sink.flush()
    _same(read(), b"one\ntwo\n", "what is written must be readable after flush()")
    length = sink.sync()
    assert length is not None, "a sink that can be read back must return its length from sync()"
    sink.write(b"lost\n")
    sink.flush()
    sink.close()
    sink.close()
    sink = make(length)
    sink.write(b"three\n")
    sink.sync()
    sink.close()
    _same(read(), b"one\ntwo\nthree\n", "a sink opened with a length must cut off what is behind it")


def check_learner(make: Callable[[], Learner]) -> None:
    """Check a learner: test-then-train, no peeking, batch sizes, one by one, growth, weights, state.

    Parameters
    ----------
    make : a new learner, always with the same parameters.
    """
    texts, labels = _stream()
    whole = make()
    predicted = whole.learn_many(texts, labels)
    assert predicted[0] is None, "it must abstain while no label is known"
    for size in (1, 7):
        parts = make()
        found = [
            p for i in range(0, len(texts), size) for p in parts.learn_many(texts[i : i + size], labels[i : i + size])
        ]
        _same(found, predicted, f"predictions in batches of {size}")
        _same_arrays(_state(parts), _state(whole), f"its state after batches of {size}")
    assert len(set(predicted[len(predicted) // 2 :])) > 1, "it must learn to tell labels apart"
    for i in range(0, len(texts), 5):
        hidden = [*labels[:i], None, *labels[i + 1 :]]
        _same(
            make().learn_many(texts[: i + 1], hidden[: i + 1])[i],
            predicted[i],
            f"the prediction of event {i}, label hidden",
        )
    alone, found = make(), []
    for text, label in zip(texts, labels, strict=True):
        found.append(alone.predict_one(text))
        alone.learn_one(text, label or "")
    _same(found, predicted, "predictions one by one")
    _same_arrays(_state(alone), _state(whole), "its state after events one by one")
    before = _state(whole)
    scores = whole.scores_many(texts[:20])
    whole.learn_many(texts[:20], [None] * 20)
    whole.learn_many(texts[:20], labels[:20], [0.0] * 20)
    _same_arrays(_state(whole), before, "its state after events without label, or of weight 0")
    _same([whole.labels.names[code] for code in best(scores)], whole.predict_many(texts[:20]), "predict_many by scores")
    shares = whole.predict_proba_one(texts[0])
    assert abs(sum(shares.values()) - 1) < 1e-9, f"probabilities must sum to 1, not {sum(shares.values())}"


def _stream(n: int = 200) -> tuple[list[str], list[str | None]]:
    """Texts whose words tell their label, with one label that appears late, some empty texts and hidden labels."""
    random = np.random.default_rng(1)
    texts, labels = [], []
    for i in range(n):
        label = int(random.integers(3 if i > n // 3 else 2))
        words = [f"w{label}{random.integers(5)}" for _ in range(random.integers(4))]
        texts.append(" ".join([*words, f"n{random.integers(50)}"] if i % 17 else ""))
        labels.append(f"label{label}" if i % 11 else None)
    labels[0] = "label0"
    return texts, labels


def _polled(source: Source, limit: int) -> Iterator[Records]:
    while (polled := source.poll(limit)) is not None:
        assert sum(map(len, polled)) <= limit, f"poll({limit}) must give no more than {limit} records"
        yield from polled
    assert source.poll(limit) is None, "poll() must go on giving None after the end"
    source.close()


def _records(records: Records) -> list[bytes]:
    return [records[i] for i in range(len(records))]


def _positions_after(source: Source, count: int) -> dict[str, Position]:
    positions: dict[str, Position] = {}
    for records in _polled(source, 3):
        taken = min(count, len(records))
        if taken:
            positions[records.key] = records.position(taken)
        count -= taken
    return positions


def _state(learner: Learner) -> dict[str, NDArray[Any]]:
    return {name: array.copy() for name, array in learner.state(learner.n_rows, len(learner.labels)).items()}


def _same_arrays(found: Mapping[str, NDArray[Any]], expected: Mapping[str, NDArray[Any]], what: str) -> None:
    for name, array in expected.items():
        assert np.array_equal(found[name], array), f"{what}: table {name} differs"


def _same(found: Any, expected: Any, what: str) -> None:
    assert found == expected, f"{what}: found {_short(found)}, expected {_short(expected)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}…"
