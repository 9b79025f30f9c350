"""Tagging models to explain, and the invariants of every explanation of a sentence."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from streamlin.explanation.explain_tags import explain_tags
from streamlin.explanation.tag_explanation import TagExplanation
from streamlin.tagging.model import TaggingModel
from tests.tagging.running import Sentence, Tags, batch_of, learn, new_model

FORMS: list[dict[str, Any]] = [
    {"kind": "crf"},
    {"kind": "crf", "name": "with_counts", "counts": True},
    {"kind": "log_linear"},
    {"kind": "log_linear", "name": "beam", "beam": 3},
    {"kind": "structured_perceptron"},
    {"kind": "structured_perceptron", "name": "averaged", "step": "perceptron"},
    {"kind": "structured_perceptron", "name": "aggressive", "step": "passive_aggressive"},
    {"kind": "hmm"},
    {"kind": "hmm", "name": "first_order", "order": 1},
]
"""Every tagger, and options that change its formula."""
STREAM = [
    Sentence(["The", "dog", "barks"], ["DET", "NOUN", "VERB"]),
    Sentence(["the", "cat", "sleeps", "."], ["DET", "NOUN", "VERB", "PUNCT"]),
    Sentence(["Dogs", "bark"], ["NOUN", "VERB"]),
    Sentence(["a", "cat", "walks"], ["DET", "NOUN", "VERB"]),
]


def taught(sentences: Sequence[Sentence], *learners: str | dict[str, Any], **tables: Any) -> TaggingModel:
    """A model that has learned sentences."""
    model = new_model(*(learners or FORMS), **tables)
    learn(model, sentences)
    return model


def explained(model: TaggingModel, tokens: list[str], **columns: list[str]) -> TagExplanation:
    """The explanation of a sentence; checks that its numbers equal a prediction's, and sum to the scores."""
    unknown: Tags = [None] * len(tokens)
    batch = batch_of([Sentence(tokens, unknown)])
    batch.tokens.columns = dict(columns)
    explanation = explain_tags(model, batch)
    predictions = model.predict(batch, model.featurize(batch))[1]
    assert list(explanation.learners) == model.names
    for number, (name, reasons) in enumerate(explanation.learners.items()):
        assert reasons.tags.tolist() == predictions.tags[number].tolist()
        share = predictions.confidences[number, 0]
        assert reasons.confidence == (None if np.isnan(share) else share)
        if number == predictions.lead[0]:
            assert (explanation.lead, explanation.predicted) == (name, reasons.predicted)
        for t in range(len(tokens)):
            token = reasons.token(t)
            assert token.predicted == reasons.predicted[t]
            everything, nothing, left = token.heaviest(10_000)
            assert left == 0
            assert not nothing.any()
            total = sum(added for _, added in everything) + sum(token.beside.values())
            assert_allclose(total, token.scores, atol=1e-9 * np.abs(token.added).sum(axis=0).max(initial=1))
    return explanation
