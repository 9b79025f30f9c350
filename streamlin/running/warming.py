"""Compiled code is loaded before the first request would have to wait for it."""

from collections.abc import Sequence

import numpy as np

from streamlin.checkpoint.models import new_model
from streamlin.config import CheckpointConfig, DelayedLabelsConfig, RunConfig
from streamlin.events import Batch, Event, single_records
from streamlin.formats.json import JsonFormat
from streamlin.formats.json_sentences import JsonSentences
from streamlin.streams.json_lines import json_lines

_TEXTS = [Event("one text", "one label", "1"), Event("another text", "another label", "2")]
_TOKENS, TAGS = ["Two", "tokens"], ["B-TAG", "O"]


def warm_up(config: RunConfig) -> None:
    """Learn and predict two events with a throwaway model; only code of the configured task and learners is loaded."""
    config = small(config)
    model, batch = new_model(config), two_events(config)
    features = model.featurize(batch)
    model.step(batch, features)
    if config.ask.budget is not None:  # of some events of a batch no label is asked for
        for found in features.values():
            found.take(np.zeros(1, np.int64))
    model.predict(batch, model.featurize(batch))
    model.close()


def two_events(config: RunConfig) -> Batch:
    """A batch of them."""
    lines = json_lines(config)
    batch, _ = lines.decode(single_records(_lines(lines)))
    if config.keys.per is not None:
        batch.extra[config.keys.per] = ["one key", "one key"]
    return batch


def small(config: RunConfig) -> RunConfig:
    """The same learners and metrics, with small tables and without files."""
    features = config.features.model_copy(update={"bits": 10})
    delayed_labels = DelayedLabelsConfig(enabled=config.ask.budget is not None)  # asking is a part of them
    update = {"features": features, "delayed_labels": delayed_labels, "checkpoint": CheckpointConfig()}
    return config.model_copy(update=update)


def _lines(lines: JsonFormat) -> Sequence[bytes]:
    """Two events."""
    if isinstance(lines, JsonSentences):
        return 2 * [lines.encode_sentence(Event(""), _TOKENS, TAGS, {}, None)]
    return [lines.encode(event) for event in _TEXTS]
