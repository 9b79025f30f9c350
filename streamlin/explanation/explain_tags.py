"""Explains a model's prediction for a sentence."""

from collections.abc import Sequence
from math import isnan

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import ConfigError, RecordError, nearest
from streamlin.events import Batch
from streamlin.explanation.tag_explanation import TagExplanation
from streamlin.explanation.tag_reasons import TagReasons
from streamlin.tagging.model import TaggingModel
from streamlin.tagging.parts import Parts
from streamlin.tagging.sentences import Sentences
from streamlin.tagging.template_names import SentenceNames

MOST_CELLS = 1 << 24
"""The largest number of tokens, times their features, times tags."""


def explain_tags(model: TaggingModel, sentence: Batch, learners: Sequence[str] | None = None) -> TagExplanation:
    """Explain why a model predicts the tags of a sentence; nothing is learned.

    Parameters
    ----------
    sentence : a batch of one sentence.
    learners : the names of the taggers to explain; None for all.

    Raises
    ------
    ConfigError : an unknown tagger.
    RecordError : the sentence has no tokens, or too many.
    """
    assert sentence.tokens is not None
    names = _chosen(model, learners)
    tokens, n_tags = sentence.texts, len(model.labels)
    features = model.featurize(sentence)
    _check_length(len(tokens), features.buckets.shape[1], n_tags)
    _, predictions = model.predict(sentence, features)
    rows, texts = model.features.sentences(features), SentenceNames(tokens, sentence.tokens.columns)
    found = {}
    for name in names:
        number, tagger = model.names.index(name), model.learners[name]
        tags, confidence = predictions.tags[number], float(predictions.confidences[number, 0])
        parts = tagger.parts(rows, tags, n_tags) if n_tags else None
        found[name] = TagReasons(
            name,
            tagger.name,
            list(model.labels.names),
            tokens,
            tags,
            None if isnan(confidence) else confidence,
            parts,
            texts,
            np.zeros((len(tokens), 0), np.bool_) if parts is None else _known(rows, parts),
        )
    lead = model.names[int(predictions.lead[0])]
    return TagExplanation(list(tokens), found, lead, model.given_out(sentence, predictions)[0])


def _chosen(model: TaggingModel, learners: Sequence[str] | None) -> Sequence[str]:
    for name in learners or ():
        if name not in model.names:
            raise ConfigError(f"no learner '{name}'; {nearest(name, model.names)}")
    return model.names if learners is None else learners


def _check_length(n: int, n_features: int, n_tags: int) -> None:
    most = max(1, MOST_CELLS // (n_features * max(n_tags, 1)))
    if not n:
        raise RecordError("the sentence has no tokens, expected at least one to explain")
    if n > most:
        raise RecordError(f"the sentence has {n:,} tokens, expected at most {most:,} to explain with {n_tags:,} tags")


def _known(sentences: Sentences, parts: Parts) -> NDArray[np.bool_]:
    """bool[m, n]: which of the features, then contexts, that a tagger reads have a row."""
    rows = sentences.rows[:, : parts.features.shape[1]], sentences.contexts[:, : parts.contexts.shape[1]]
    known: NDArray[np.bool_] = np.concatenate(rows, axis=1) >= 0
    return known
