"""The contents of a checkpoint as JSON-able values."""

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from streamlin.checkpoint.loading import load_model
from streamlin.errors import spelled
from streamlin.evaluation.report import report_of
from streamlin.model import Model
from streamlin.sharding.model import ShardedModel

Heavy = tuple[int, float] | tuple[int, float, str]
"""A bucket and its weight; its view, where the learner reads several."""
_SHOWN = ("accuracy", "clusters")
"""What is told of a learner's metrics."""


def inspect(
    folder: str,
    top: int = 5,
    previous: bool = False,
    allow_pickle: bool = False,
    external_models: bool = True,
    notice: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Learners, labels, positions, and the heaviest features of a checkpoint.

    For each learner and each of the first 20 labels, these are the `top` buckets whose weight for that label exceeds
    the mean of all labels most, each followed by its view where the learner reads several; and the n-grams seen in
    these buckets, by view, as far as names are kept.

    allow_pickle, external_models : see `load_model`. notice : shows the user a line.

    Raises
    ------
    CheckpointError : it can't be used, or it holds external models that may not be unpickled.
    """
    model, config, state, size = load_model(folder, previous, allow_pickle, external_models)
    for line in model.pop_notices():
        notice(line)
    report = report_of(model.prequential, model.labels, details=False)
    with np.errstate(all="ignore"):  # weights that have overflowed are shown as they are
        heaviest = {name: _heaviest(model, name, top) for name in model.learners if name in model.views_of}
    return {
        "checkpoint": state["number"],
        "events": report["events"],
        "labelled": report["labelled"],
        "dead_letters": report["dead_letters"],
        "labels": {
            name: float(weight)
            for name, weight in zip(model.labels.names, model.prequential.label_weights, strict=False)
        },
        **({"templates": report["templates"]} if "templates" in report else {}),
        **({"rounds": model.rounds.report(model.n_shards)} if isinstance(model, ShardedModel) else {}),
        **({} if model.prequential.keys is None else {"keys": model.prequential.keys.to_json(True)}),
        "rows": {view: len(rows) for view, rows in model.rows.items()},
        "bytes": size,
        "learners": {
            learner.name: {"kind": learner.kind, "features": _shown_views(model.views_of.get(learner.name, ("–",)))}
            | {key: "inf" if value == inf else value for key, value in learner.parameters().items()}  # JSON has none
            | {key: value for key, value in report["learners"][learner.name].items() if key in _SHOWN}
            for learner in config.learners
        },
        **({"topics": model.prequential.more(True)["topics"]} if "topics" in report else {}),
        "positions": _spelled(state["positions"]),
        "sinks": _spelled(state["sinks"]),
        "heaviest": heaviest,
        "names": {view: _names(model, view, heaviest) for view in model.views},
        "names_kept": {view: len(names) for view, names in model.feature_names.items()},
    }


def _spelled(value: Any) -> Any:
    """JSON-able values, with all names of files as people read them."""
    if isinstance(value, dict):
        return {spelled(name): _spelled(one) for name, one in value.items()}
    return spelled(value) if isinstance(value, str) else value


def _shown_views(views: tuple[str, ...]) -> str | list[str]:
    return views[0] if len(views) == 1 else list(views)


def _names(model: Model, view: str, heaviest: dict[str, dict[str, list[Heavy]]]) -> dict[str, list[str]]:
    """Bucket, as text, -> its n-grams, for the heaviest features of a view."""
    buckets = set()
    for learner, labels in heaviest.items():
        of_one = model.views_of[learner] == (view,)
        buckets |= {bucket for features in labels.values() for bucket, _, *own in features if own == [view] or of_one}
    named = model.feature_names[view].of_buckets(buckets, model.rows[view].bits)
    return {str(bucket): names for bucket, names in named.items()}


def _heaviest(model: Model, name: str, top: int) -> dict[str, list[Heavy]]:
    """Label -> bucket and weight of its heaviest features, and their view if there are several."""
    if not model.learners[name].has_effective_weights:
        return {}
    weights = model.learners[name].effective_weights(model.n_rows(name), len(model.labels))
    if weights.size == 0:
        return {}
    weights = weights - weights.mean(axis=1, keepdims=True)
    feature_of = _features_of(model, name)
    heaviest = {}
    for code, label in enumerate(model.labels.names[:20]):
        order = np.argsort(-weights[:, code], kind="stable")[:top]
        heaviest[label] = [_heavy(*feature_of(row), float(weights[row, code])) for row in order]
    return heaviest


def _features_of(model: Model, name: str) -> Callable[[int], tuple[int, str | None]]:
    """A function from a row of a learner to its bucket, and its view if the learner reads several."""
    views = model.views_of[name]
    if name not in model.joint_rows:
        return lambda row: (int(model.rows[views[0]].buckets[row]), None)
    numbers, rows = model.joint_rows[name].places()
    return lambda row: (int(model.rows[views[numbers[row]]].buckets[rows[row]]), views[numbers[row]])


def _heavy(bucket: int, view: str | None, weight: float) -> Heavy:
    return (bucket, weight) if view is None else (bucket, weight, view)
