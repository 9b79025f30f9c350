"""What a report says beside metrics."""

from typing import Any

from streamlin.model import Model
from streamlin.sharding.model import ShardedModel


def beside_metrics(model: Model) -> dict[str, Any]:
    """Of labels that come later, of those that are asked for, and of the rounds of shards."""
    parts = {"delayed_labels": model.delayed_labels, "asking": model.asking}
    rounds = {"rounds": model.rounds.report(model.n_shards)} if isinstance(model, ShardedModel) else {}
    return {key: part.report() for key, part in parts.items() if part is not None} | rounds
