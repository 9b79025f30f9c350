"""From a model and a text to an explanation."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import isnan

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import ConfigError, RecordError, nearest
from streamlin.events import Batch, single_records
from streamlin.explanation.explanation import Explanation
from streamlin.explanation.found import Found
from streamlin.explanation.parts import Parts, of_learner, of_mixture
from streamlin.explanation.reasons import Reasons
from streamlin.features.walk import ngrams
from streamlin.model import Features, Model


def explain(
    model: Model,
    text: str | Sequence[str],
    learners: Sequence[str] | None = None,
    categories: Mapping[str, str | None] | None = None,
) -> Explanation:
    """Why a model labels a text as it does; nothing is learned.

    Parameters
    ----------
    text : a text, or its pieces where an event has several text fields.
    learners : names of those to explain; None: all that can be taken apart.
    categories : value by field, of the fields that `fields.categories` names.

    Raises
    ------
    ConfigError : there is no such learner, or no such category; or the learner is no sum of what its features add.
    RecordError : it is no text.
    """
    pieces = _pieces(text)
    names = _chosen(model, learners)
    given = _checked(model, categories or {})
    event = _event(pieces, given)
    features = model.featurize(event)
    scores, found = model.scores(event, features), _found(model, pieces, given, features)
    predictions, confidences = model.prequential.predict(scores), model.prequential.confidences(scores)
    parts_of = _parts(model, features, scores[:, 0])
    labels = list(model.labels.names)
    reasons = {}
    for name in names:
        number, parts = model.names.index(name), parts_of(name)
        sure = float(confidences[number, 0])
        reasons[name] = Reasons(
            name,
            (model.learners | model.mixtures)[name].name,
            labels,
            scores[number, 0],
            None if isnan(sure) else sure,
            parts.base,
            [found[view] for view in parts.added],
            np.concatenate([*parts.added.values()]),
        )
    lead = int(predictions.lead[0])
    code = int(predictions.predicted[lead, 0])
    return Explanation("\n".join(pieces), reasons, model.names[lead], labels[code] if code >= 0 else None)


def _chosen(model: Model, learners: Sequence[str] | None) -> Sequence[str]:
    """The learners to explain."""
    sums = [name for name in model.names if _is_sum(model, name)]
    for name in learners or ():
        if name not in model.names:
            raise ConfigError(f"no learner '{name}'; {nearest(name, model.names)}")
        if name not in sums:
            raise ConfigError(
                f"learner '{name}' can't be explained: it is an external model, mixes one, or has no weights"
            )
    if not sums:
        raise ConfigError("no learner can be explained: each is an external model, mixes one, or has no weights")
    return sums if learners is None else learners


def _is_sum(model: Model, name: str) -> bool:
    """Whether a learner's scores are sums of what is known of features."""
    if name in model.mixtures:
        return all(_is_sum(model, model.names[member]) for member in model.members[name])
    return name in model.learners and model.learners[name].has_effective_weights


def _pieces(text: str | Sequence[str]) -> tuple[str, ...]:
    if isinstance(text, str):
        return (text,)
    if isinstance(text, list | tuple) and all(isinstance(piece, str) for piece in text):
        return tuple(text)
    raise RecordError(f"{text!r:.80} can't be explained; it must be a text, or a list of the texts of an event")


def _checked(model: Model, given: Mapping[str, str | None]) -> dict[str, str | None]:
    """A value, or None, for each of the model's categories."""
    known = next(iter(model.views.values())).categories
    for field in given:
        if field not in known:
            raise ConfigError(f"no category '{field}' (fields.categories); {nearest(field, known)}")
    return {field: given.get(field) for field in known}


def _event(pieces: Sequence[str], given: Mapping[str, str | None]) -> Batch:
    """A batch of one event."""
    return Batch(
        ids=[None],
        texts=list(pieces),
        labels=[None],
        weights=np.ones(1),
        times=np.full(1, np.nan),
        extra={field: [value] for field, value in given.items()},
        records=single_records([b""]),
        kept=np.arange(1),
        pieces=np.array([0, len(pieces)]),
    )


def _found(
    model: Model, pieces: Sequence[str], given: Mapping[str, str | None], features: Features
) -> dict[str, Found]:
    """What each view finds."""
    return {
        name: Found(name, ngrams(view, pieces, given), features[name], model.rows[name], model.feature_names[name])
        for name, view in model.views.items()
    }


def _parts(model: Model, features: Features, scores: NDArray[np.float64]) -> Callable[[str], Parts]:
    """A function from a learner's name to its parts; scores float64[L, K]."""
    examples = {view: index.examples(features[view]) for view, index in model.rows.items()}

    @cache
    def parts_of(name: str) -> Parts:
        if name in model.mixtures:
            members = model.members[name]
            return of_mixture(model.mixtures[name], [parts_of(model.names[m]) for m in members], scores[members])
        view = model.view_of[name]
        return of_learner(model.learners[name], view, examples[view], scores.shape[1])

    return parts_of
