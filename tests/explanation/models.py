"""Models to explain, and the invariants of every explanation."""

from collections.abc import Mapping, Sequence
from math import inf

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from streamlin.config import RunConfig
from streamlin.events import Event
from streamlin.explanation import Explanation, explain
from streamlin.learners import KINDS
from streamlin.model import Model
from tests.sample_streams import batch_of, batches

VARIANTS = [
    *({"kind": kind} for kind in KINDS),
    {"kind": "naive_bayes", "name": "by_prior", "smoothing": "prior", "alpha": 3.0, "half_life": 20.0},
    {"kind": "averaged_perceptron", "name": "fading", "half_life": 20.0},
    {"kind": "passive_aggressive", "name": "soft", "variant": 2},
    {"kind": "passive_aggressive", "name": "mira", "C": inf, "averaged": True, "half_life": 20.0},
    {"kind": "logistic_regression", "name": "raw", "normalize": False, "squares": "feature"},
    {"kind": "hinge", "name": "raw_hinge", "normalize": False},
    {"kind": "sgd", "name": "shrinking", "loss": "hinge", "rate": "pegasos", "l2": 0.01},
    {"kind": "sgd", "name": "bottou", "rate": "bottou", "l2": 0.01},
]
"""Every kind of learner, and options that change its formula."""
VIEWS = {
    "bits": 12,
    "words": {"ngrams": [1, 2], "values": "log"},
    "letters": {"tokens": "char_wb", "ngrams": [1, 3], "values": "counts"},
    "rare": {"tokens": "whitespace", "min_count": 2, "lowercase": False},
    "pairs": {"tokens": "skip", "values": "counts"},
    "shapes": {"tokens": "shape"},
}
EVERY = [
    *VARIANTS,
    {"kind": "naive_bayes", "name": "of_letters", "features": "letters"},
    {"kind": "logistic_regression", "name": "of_rare", "features": "rare"},
    {"kind": "logistic_regression", "name": "of_many", "features": ["rare", "shapes", "words", "pairs"]},
    {"kind": "arow", "name": "of_two", "features": ["letters", "rare"], "normalize": True},
    {"kind": "naive_bayes", "name": "of_a_bag", "features": ["words", "pairs"]},
    {"kind": "mixture", "members": ["naive_bayes", "perceptron", "of_letters", "of_two"]},
    {"kind": "mixture", "name": "of_mixtures", "members": ["mixture", "of_rare", "sgd", "of_many"]},
]
"""Also learners of other views, a mixture, and a mixture of a mixture."""


def taught(events: Sequence[Event], learners: Sequence[Mapping[str, object]] = EVERY, **tables: object) -> Model:
    """A model that has learned events."""
    model = Model(RunConfig(**{"features": VIEWS, "learners": learners, "evaluation": {"window": 50}} | tables))
    for batch in batches(events, 64):
        model.step(batch, model.featurize(batch))
    return model


def events_of(*pairs: tuple[str, str | None]) -> list[Event]:
    """Events of texts and labels."""
    return [Event(text, label) for text, label in pairs]


def checked(model: Model, text: str) -> Explanation:
    """The explanation of a text; checks that its numbers equal a prediction's and sum to the scores."""
    explanation = explain(model, text)
    batch = batch_of([Event(text)])
    features = model.featurize(batch)
    scores = model.scores(batch, features)[:, 0]
    predictions = model.predict(batch, features)[1]
    assert list(explanation.learners) == model.names
    for number, (name, reasons) in enumerate(explanation.learners.items()):
        assert_array_equal(reasons.scores, scores[number])
        code = int(predictions.predicted[number, 0])
        assert reasons.predicted == (model.labels.names[code] if code >= 0 else None)
        magnitude = np.abs(reasons.added).sum(axis=0) + np.abs(reasons.base)
        assert_allclose(
            reasons.base + reasons.added.sum(axis=0), reasons.scores, rtol=0, atol=1e-12 * magnitude.max(initial=1)
        )
        assert len(reasons.added) == sum(view.known.size for view in reasons.views)
        if number == predictions.lead[0]:
            assert explanation.lead == name
            assert explanation.predicted == reasons.predicted
            assert_array_equal(np.nan if reasons.confidence is None else reasons.confidence, predictions.confidences[0])
    return explanation
