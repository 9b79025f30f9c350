"""The contents of a checkpoint as JSON-able values."""

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from streamlin.checkpoint.loading import load_model
from streamlin.errors import spelled
from streamlin.evaluation.report import report_of
from streamlin.model import Model

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
    the mean of all labels most; and the n-grams seen in these buckets, by view, as far as names are kept.

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
        heaviest = {name: _heaviest(model, name, top) for name in model.learners if name in model.view_of}
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
        **({} if model.prequential.keys is None else {"keys": model.prequential.keys.to_json(True)}),
        "rows": {view: len(rows) for view, rows in model.rows.items()},
        "bytes": size,
        "learners": {
            learner.name: {"kind": learner.kind, "features": model.view_of.get(learner.name, "–")}
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


def _names(model: Model, view: str, heaviest: dict[str, dict[str, list[tuple[int, float]]]]) -> dict[str, list[str]]:
    """Bucket, as text, -> its n-grams, for the heaviest features of a view."""
    own = [labels for learner, labels in heaviest.items() if model.view_of[learner] == view]
    buckets = {bucket for labels in own for features in labels.values() for bucket, _ in features}
    named = model.feature_names[view].of_buckets(buckets, model.rows[view].bits)
    return {str(bucket): names for bucket, names in named.items()}


def _heaviest(model: Model, name: str, top: int) -> dict[str, list[tuple[int, float]]]:
    """Label -> bucket and weight of its heaviest features."""
    rows = model.rows[model.view_of[name]]
    if not model.learners[name].has_effective_weights:
        return {}
    weights = model.learners[name].effective_weights(len(rows), len(model.labels))
    if weights.size == 0:
        return {}
    weights = weights - weights.mean(axis=1, keepdims=True)
    heaviest = {}
    for code, label in enumerate(model.labels.names[:20]):
        order = np.argsort(-weights[:, code], kind="stable")[:top]
        heaviest[label] = [(int(rows.buckets[row]), float(weights[row, code])) for row in order]
    return heaviest
