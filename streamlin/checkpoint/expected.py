"""What a checkpoint of a model must hold; each part of the model declares its own arrays."""

from collections.abc import Mapping
from typing import Any

from streamlin.errors import CheckpointError
from streamlin.features.joint import JointRows
from streamlin.model import Model
from streamlin.sharding.model import ShardedModel
from streamlin.storage.arrays import Expected, Layout, arrays_under, length_of

_DELAYED = "delayed_labels/"


def expected_arrays(model: Model, layout: Mapping[str, Layout], state: Mapping[str, Any]) -> dict[str, Expected]:
    """What each array must be, by name.

    model : new, of the checkpoint's configuration. layout : of the arrays in the file; taken from it are the numbers
    of rows, and which optional arrays there are. state : its other contents, checked.

    Raises
    ------
    CheckpointError : its state lacks something, or it keeps texts that wait for labels elsewhere.
    """
    n_labels = len(state["labels"])
    sharded = isinstance(model, ShardedModel)
    of_parts = {"external_models": model.external_models, "delayed_labels": model.delayed_labels, "rounds": sharded}
    for key, wanted in of_parts.items():
        if wanted and key not in state:
            raise CheckpointError(f"the checkpoint's state has no {key}")
    if not isinstance(model, Model):  # of sentences, which knows its own arrays
        return model.expected(layout, n_labels) | _of_delayed_labels(model, layout, state)
    arrays = _of_features(model, layout)
    for name, learner in model.learners.items():
        n_rows = sum(length_of(layout, f"rows/{view}") for view in model.views_of[name])
        arrays |= _under(f"learners/{name}", learner.expected(n_rows, n_labels))
        if name in model.joint_rows:
            arrays[f"joint_rows/{name}"] = JointRows.expected(n_rows)
    for name, mixture in model.mixtures.items():
        arrays |= _under(f"learners/{name}", mixture.expected(n_labels))
    for name, external in model.external_models.items():
        arrays |= _under(f"learners/{name}", external.expected(state["external_models"].get(name)))
    if model.drain is not None:
        arrays |= _under("drain", model.drain.expected())
    if model.keys is not None:
        arrays |= _under("keys", model.keys.expected(arrays_under(layout, "keys/"), n_labels))
    if model.asking is not None:
        arrays |= _under("asking", model.asking.expected(n_labels))
    arrays |= _under("evaluation", model.prequential.expected(n_labels))
    return arrays | _of_delayed_labels(model, layout, state)


def _of_delayed_labels(model: Model, layout: Mapping[str, Layout], state: Mapping[str, Any]) -> dict[str, Expected]:
    if model.delayed_labels is not None:
        return _under("delayed_labels", model.delayed_labels.expected(len(state["labels"]), state["delayed_labels"]))
    # a model that only predicts leaves out the texts that wait
    return {name: Expected(*of, lowest=None) for name, of in layout.items() if name.startswith(_DELAYED)}


def _of_features(model: Model, layout: Mapping[str, Layout]) -> dict[str, Expected]:
    arrays = {}
    for view, rows in model.rows.items():
        arrays[f"rows/{view}"], sightings = rows.expected()
        if rows.min_count > 1:
            arrays[f"sightings/{view}"] = sightings
        if any(name.startswith(f"names/{view}/") for name in layout):
            arrays |= _under(f"names/{view}", model.feature_names[view].expected())
    return arrays


def _under(prefix: str, arrays: Mapping[str, Expected]) -> dict[str, Expected]:
    return {f"{prefix}/{name}": array for name, array in arrays.items()}
