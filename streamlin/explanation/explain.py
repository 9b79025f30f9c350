"""Explains a model's prediction for a text."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import isnan

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import ConfigError, RecordError, nearest
from streamlin.events import Batch, single_records
from streamlin.explanation.decomposition import Decomposition, decompose_learner, decompose_mixture
from streamlin.explanation.explanation import Explanation
from streamlin.explanation.reasons import Reasons
from streamlin.explanation.text_features import TextFeatures
from streamlin.features.ngram_locations import ngrams
from streamlin.features.rows import RowIndex
from streamlin.model import Features, Model


def explain(
    model: Model,
    text: str | Sequence[str],
    learners: Sequence[str] | None = None,
    categories: Mapping[str, str | None] | None = None,
) -> Explanation:
    """Explain why a model predicts the label of a text; nothing is learned.

    Parameters
    ----------
    text : a text, or its pieces where an event has several text fields.
    learners : the names of the learners to explain; None for all that can be explained.
    categories : value by field, for fields in `fields.categories`, and for the field of the key.

    Raises
    ------
    ConfigError : an unknown learner or category, or a learner whose scores are not sums over features.
    RecordError : `text` is not a text.
    """
    pieces = _pieces(text)
    names = _chosen(model, learners)
    given = _checked(model, categories or {})
    event = _event(pieces, given)
    model.look_up_templates(event)
    given = {field: event.extra[field][0] for field in given}
    features = model.featurize(event)
    of_text = {field: given[field] for view in model.views.values() for field in view.categories}
    scores, views = model.scores(event, features), _text_features(model, pieces, of_text, features)
    predictions, confidences = model.prequential.predict(scores), model.prequential.confidences(scores)
    decompose = _decomposer(model, features, scores[:, 0])
    labels = list(model.labels.names)
    reasons = {}
    for name in names:
        number = model.names.index(name)
        own = None if model.keys is None else model.keys.own_model(name, given[model.keys.field], features)
        if own is None:
            decomposition, codes, found = decompose(name), [*range(len(labels))], views
        else:
            view, codes = model.views_of[name][0], own.codes
            known = {view: int((own.examples.rows >= 0).sum())}
            decomposition = decompose_learner(own.learner, known, own.examples, len(codes))
            found = _text_features(model, pieces, of_text, features, {view: own.rows})
        confidence = float(confidences[number, 0])
        reasons[name] = Reasons(
            name,
            (model.learners | model.mixtures)[name].name,
            [labels[code] for code in codes],
            scores[number, 0, codes],
            None if isnan(confidence) else confidence,
            decomposition.base,
            [found[view] for view in decomposition.added],
            np.concatenate([*decomposition.added.values()]),
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
                f"learner '{name}' can't be explained: it is an external model, mixes one or models per key, or has no "
                "weights"
            )
    if not sums:
        raise ConfigError("no learner can be explained: each is an external model, mixes one, or has no weights")
    return sums if learners is None else learners


def _is_sum(model: Model, name: str) -> bool:
    """Whether a learner's scores are sums over known features."""
    if name in model.mixtures:
        return model.keys is None and all(_is_sum(model, model.names[member]) for member in model.members[name])
    return name in model.learners and model.learners[name].has_effective_weights


def _pieces(text: str | Sequence[str]) -> tuple[str, ...]:
    if isinstance(text, str):
        return (text,)
    if isinstance(text, list | tuple) and all(isinstance(piece, str) for piece in text):
        return tuple(text)
    raise RecordError(f"{text!r:.80} can't be explained: expected a text, or a list of the texts of an event")


def _checked(model: Model, given: Mapping[str, str | None]) -> dict[str, str | None]:
    """A value, or None, for each of the model's categories, and for the field of the key."""
    categories = next(iter(model.views.values())).categories
    known = dict.fromkeys(categories if model.keys is None else (*categories, model.keys.field))
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


def _text_features(
    model: Model,
    pieces: Sequence[str],
    given: Mapping[str, str | None],
    features: Features,
    rows: Mapping[str, RowIndex] | None = None,
) -> dict[str, TextFeatures]:
    """The features of the text, by view; rows : of the views that are wanted, by default all."""
    return {
        name: TextFeatures(
            name, ngrams(model.views[name], pieces, given), features[name], index, model.feature_names[name]
        )
        for name, index in (model.rows if rows is None else rows).items()
    }


def _decomposer(model: Model, features: Features, scores: NDArray[np.float64]) -> Callable[[str], Decomposition]:
    """A function from a learner's name to the decomposition of its scores; scores float64[L, K]."""
    examples = {view: index.examples(features[view]) for view, index in model.rows.items()}

    @cache
    def decompose(name: str) -> Decomposition:
        if name in model.mixtures:
            members = model.members[name]
            return decompose_mixture(
                model.mixtures[name], [decompose(model.names[m]) for m in members], scores[members]
            )
        views, learner, own = model.views_of[name], model.learners[name], model.examples(name, examples)
        known = [int((examples[view].rows[: examples[view].indptr[1]] >= 0).sum()) for view in views]
        return decompose_learner(learner, dict(zip(views, known, strict=True)), own, scores.shape[1])

    return decompose
