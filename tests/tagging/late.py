"""Streams of sentences whose tags come later, as JSON lines, and running taggers on them as a pipeline does."""

import gzip
import json
from collections.abc import Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from streamlin.config import RunConfig
from streamlin.events import Batch, single_records
from streamlin.streams.json_lines import json_lines
from streamlin.tagging.model import TaggingModel
from tests.tagging.running import Outcome, _outcome, joined

Line = dict[str, Any]


@cache
def spanish(path: Path, n: int) -> list[Line]:
    """The first n sentences with names; with a column of parts of speech, a field to slice by, some tags unknown."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        events = [json.loads(line) for line in islice(lines, n)]
    for number, event in enumerate(events):
        event["part"] = "abc"[number % 3]
        if number % 11 == 4:
            event["weight"] = number % 3 / 2
        if number % 7 == 3:
            event["tags"] = [None if i % 2 else tag for i, tag in enumerate(event["tags"])]
        if number % 37 == 5:
            event["tokens"], event["tags"], event["pos"] = [], [], []
    return events


def without(event: Line, *keys: str) -> Line:
    """The event without some of its fields."""
    return {key: value for key, value in event.items() if key not in keys}


def scattered(events: Sequence[Line], seed: int = 1) -> list[Line]:
    """Each sentence, and its tags some ten places later; some come with the sentence, some before it, some never."""
    random = np.random.default_rng(seed)
    placed: list[tuple[int, int, Line]] = []
    for place, event in enumerate(events):
        kind, delay = random.random(), int(random.exponential(15)) + 1
        if kind < 0.1:
            placed.append((place, 1, event))
            continue
        placed.append((place, 1, without(event, "tags")))
        if kind > 0.15:
            tags = {"id": event["id"], "tags": event["tags"], "weight": 2.0 if kind > 0.8 else 1.0}
            placed.append((place - delay if kind > 0.9 else place + delay, 0, tags))
    return [event for _, _, event in sorted(placed, key=lambda one: one[:2])]


def config_of(*learners: str, **tables: Any) -> RunConfig:
    """Taggers of these kinds, with the column and the field of `spanish`, in fewer buckets than usual."""
    settings: dict[str, Any] = {
        "task": "tagging",
        "learners": [{"kind": kind} for kind in learners or ("crf", "hmm")],
        "fields": {"columns": ["pos"]},
        "features": {"bits": 16},
        "evaluation": {"window": 30, "fading": 0.99, "slice_by": ["part"]},
    }
    return RunConfig(**settings | tables)


def batch_of(config: RunConfig, lines: Sequence[Line]) -> Batch:
    """The events of lines, all of which are good."""
    batch, dead = json_lines(config).decode(single_records([json.dumps(line).encode() for line in lines]))
    assert not dead
    return batch


def run(model: TaggingModel, lines: Sequence[Line], size: int, part: slice = slice(None)) -> Outcome:
    """What is predicted of a stream, or of a part of it, in batches of a size."""
    whole, outcomes = batch_of(model._config, lines)[part], []
    for begin in range(0, len(whole), size):
        batch = whole[begin : begin + size]
        given, predictions = model.step(batch, model.featurize(batch))
        outcomes.append(_outcome(model, given, predictions))
    return joined(outcomes, len(model.names))
