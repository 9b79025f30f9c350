"""Loading compiled code before the first request would have to wait for it."""

from streamlin.config import CheckpointConfig, DelayedLabelsConfig, RunConfig
from streamlin.events import Event, single_records
from streamlin.model import Model
from streamlin.streams.json_lines import json_lines

_EVENTS = [Event("one text", "one label", "1"), Event("another text", "another label", "2")]


def warm_up(config: RunConfig) -> None:
    """Learn and predict two events with a throwaway model."""
    small = config.features.model_copy(update={"bits": 10})
    update = {"features": small, "delayed_labels": DelayedLabelsConfig(), "checkpoint": CheckpointConfig()}
    config = config.model_copy(update=update)
    model, lines = Model(config), json_lines(config)
    batch, _ = lines.decode(single_records([lines.encode(event) for event in _EVENTS]))
    model.step(batch, model.featurize(batch))
    model.predict(batch, model.featurize(batch))
    model.close()
