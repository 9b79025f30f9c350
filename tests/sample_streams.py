"""Streams to learn from: real ones, as events and as batches, and those that hypothesis generates."""

import gzip
import json
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from streamlin.events import Batch, Event, single_records
from streamlin.features import Buckets, View


def read_events(path: Path, n: int, extra: Sequence[str] = ()) -> list[Event]:
    """The first n events of a `.jsonl.gz`, with the `extra` fields."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        return [
            Event(fields["text"], fields["label"], fields["id"], extra={name: fields[name] for name in extra})
            for fields in map(json.loads, islice(lines, n))
        ]


def batch_of(events: Sequence[Event]) -> Batch:
    """Events as columns."""
    records = single_records([json.dumps(event.text).encode() for event in events])
    return Batch(
        ids=[event.id for event in events],
        texts=[event.text for event in events],
        labels=[event.label for event in events],
        weights=np.array([event.weight for event in events], np.float64),
        times=np.full(len(events), np.nan),
        extra={name: [event.extra[name] for event in events] for name in (events[0].extra if events else ())},
        records=records,
        kept=np.arange(len(events)),
    )


def batches(events: Sequence[Event], size: int, begin: int = 0, end: int | None = None) -> Iterator[Batch]:
    """Events `begin` to `end` in batches of a size; each batch keeps its place among all events."""
    whole = batch_of(events)[begin:end]
    return (whole[first : first + size] for first in range(0, len(whole), size))


class Example(NamedTuple):
    """An event as the naive twin of a learner reads it: bucket -> value, a label or None, a weight."""

    x: dict[int, float]
    label: str | None
    weight: float = 1.0


def examples_of(events: Sequence[Event], view: View) -> list[Example]:
    """Events as examples of their hashed features."""
    indptr, buckets, values = view.of_texts([event.text for event in events])
    return [
        Example(
            dict(zip(buckets[begin:end].tolist(), values[begin:end].tolist(), strict=True)), event.label, event.weight
        )
        for event, begin, end in zip(events, indptr[:-1], indptr[1:], strict=True)
    ]


@cache
def real_examples(path: Path, n: int) -> list[Example]:
    """The first n events of a file, `thinned`, as words and pairs of words in 2^20 buckets."""
    return examples_of(thinned(read_events(path, n)), View())


def buckets_of(examples: Sequence[Example]) -> Buckets:
    """The features of examples in CSR form."""
    indptr = np.cumsum([0, *(len(example.x) for example in examples)])
    buckets = np.array([bucket for example in examples for bucket in example.x], np.int32)
    return Buckets(indptr, buckets, np.array([v for example in examples for v in example.x.values()], np.float32))


def thinned(events: Sequence[Event], seed: int = 0) -> list[Event]:
    """The events with a tenth of the labels hidden, some texts emptied, and various weights, 0 among them."""
    random = np.random.default_rng(seed)
    return [
        Event(
            "" if random.random() < 0.03 else event.text,
            None if random.random() < 0.1 else event.label,
            event.id,
            float(random.choice([1.0, 1.0, 0.0, 0.1, 0.7, 2.0, 3.3])),
            extra=event.extra,
        )
        for event in events
    ]


BITS = 6
_values = st.floats(0.125, 4, width=32)
_features = st.dictionaries(st.integers(0, 2**BITS - 1), _values, max_size=6)


def streams(labelled: bool = False) -> st.SearchStrategy[list[Example]]:
    """Streams of sparse features, some empty, with one to five labels; some events have no label or weight 0, unless
    all are `labelled`."""
    weight = st.sampled_from([0.5, 1.0, 1.0, 2.0] if labelled else [0.0, 0.5, 1.0, 1.0, 2.0])

    def of_labels(most: int) -> st.SearchStrategy[list[Example]]:
        labels = st.sampled_from("abcde"[:most])
        return st.lists(st.builds(Example, _features, labels if labelled else st.none() | labels, weight), max_size=40)

    return st.integers(1, 5).flatmap(of_labels)


def topics(n: int, labels: int) -> list[tuple[str, str]]:
    """Texts of a few words, most of which identify the label."""
    random = np.random.default_rng(7)
    stream = []
    for _ in range(n):
        label = int(random.integers(labels))
        words = [
            f"w{label if random.random() < 0.8 else int(random.integers(labels))}x{random.integers(9)}" for _ in "1234"
        ]
        stream.append((" ".join(words), f"label{label}"))
    return stream
