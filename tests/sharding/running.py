"""Rounds of shards on one model, without a run around it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from streamlin.checkpoint.models import new_model
from streamlin.config import RunConfig
from streamlin.config.loading import checked
from streamlin.events import Batch, single_records
from streamlin.model import Features, Model
from streamlin.sharding.mixing import mix
from streamlin.sharding.parts import Part
from streamlin.sharding.shard import Piece, Scored, learn_part
from tests.sample_streams import BITS, Example, buckets_of


def config_of(*learners: Mapping[str, Any], bits: int = BITS) -> RunConfig:
    """The configuration of a model that shards can learn."""
    features = {"bits": bits, "words": {}, "others": {"tokens": "whitespace"}}
    return checked({"learners": list(learners), "features": features, "mixing": {"shards": 2}})


def model_of(*learners: Mapping[str, Any], bits: int = BITS) -> Model:
    """A model that shards can learn."""
    return new_model(config_of(*learners, bits=bits))


def piece_of(model: Model, examples: Sequence[Example]) -> Piece:
    """Events with these features in every view."""
    n = len(examples)
    batch = Batch(
        ids=[None] * n,
        texts=[""] * n,
        labels=[example.label for example in examples],
        weights=np.array([example.weight for example in examples], np.float64),
        times=np.full(n, np.nan),
        extra={},
        records=single_records([b""] * n),
        kept=np.arange(n),
    )
    return Piece(batch, Features(dict.fromkeys(model.views, buckets_of(examples))), np.arange(n))


def learned(model: Model, examples: Sequence[Example]) -> tuple[Part, list[dict[str, dict[str, float]]]]:
    """The part of a shard that learns these events, and for each event and learner the scores by label."""
    scores: list[dict[str, dict[str, float]]] = []

    def keep(_: Piece, scored: Scored) -> None:
        for i, known in enumerate(scored.goals.known.tolist()):
            own = scored.scores[:, i, :known].tolist()
            scores.append(
                {name: dict(zip(scored.labels, row, strict=False)) for name, row in zip(model.names, own, strict=True)}
            )

    part = learn_part(model, len(model.labels), [piece_of(model, examples)], keep)
    return part, scores


def one_round(model: Model, shards: Sequence[Sequence[Example]]) -> list[list[dict[str, dict[str, float]]]]:
    """Learn one round of each shard, and mix; the scores of each shard's events."""
    found = [learned(model, events) for events in shards]
    mix(model, len(model.labels), [part for part, _ in found])
    return [scores for _, scores in found]


def tables_of(model: Model) -> dict[str, Any]:
    """Everything that was learned, copied."""
    arrays, rest = model.state()
    kept = {name: array.copy() for name, array in arrays.items() if not name.startswith("evaluation/")}
    return kept | {"labels": [*rest["labels"]]}
