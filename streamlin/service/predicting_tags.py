"""Predictions for sentences, while another thread learns."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.checkpoint.run_state import RunState
from streamlin.config import RunConfig
from streamlin.evaluation.tagging import TagPredictions
from streamlin.events import Batch
from streamlin.formats.json import JsonFormat
from streamlin.service.predicting import Predictor, rounded
from streamlin.service.sentences import Sentence, batch_of


class SentencePredictor(Predictor[Sentence]):
    """Predicts the tags of sentences.

    lines : the format of the lines that are stored.
    """

    at_once = 256

    def __init__(self, state: RunState, config: RunConfig, lines: JsonFormat) -> None:
        super().__init__(state, config)
        self._lines = lines

    def _batch(self, texts: Sequence[Sentence]) -> Batch:
        return batch_of(texts, self._lines)

    def _answers(self, batch: Batch, predictions: TagPredictions) -> list[dict[str, Any]]:
        """As prediction lines have them."""
        assert batch.pieces is not None
        assert batch.tokens is not None
        names = [*self._model.labels.names, None]  # the list only grows; None stands for code -1
        sentences = np.arange(len(batch))
        lead, confidences = predictions.lead, rounded(predictions.confidences[predictions.lead, sentences])
        tags = [[names[code] for code in codes] for codes in predictions.tags.tolist()]
        shares, places = _shares(batch.pieces, predictions), batch.tokens.offsets
        answers = []
        bounds, each = pairwise(batch.pieces.tolist()), self._measures(predictions)
        rows = zip(batch.ids, lead.tolist(), confidences, each, bounds, strict=True)
        for id_, best, confidence, measures, (begin, end) in rows:
            answer: dict[str, Any] = {} if id_ is None else {"id": id_}
            answer["predicted"] = tags[best][begin:end]
            answer["confidence"] = confidence
            answer |= measures
            if shares and begin < end:
                answer["token_confidence"] = shares[begin:end]
            if places is not None and begin < end and places[begin, 0] >= 0:
                answer["start"], answer["end"] = places[begin:end].T.tolist()
            answer["learners"] = {name: own[begin:end] for name, own in zip(self._model.names, tags, strict=True)}
            answers.append(answer)
        return answers


def _shares(bounds: NDArray[np.int64], predictions: TagPredictions) -> list[float | None]:
    """The leading tagger's probability of each token's tag; empty if they are not wanted."""
    if not predictions.token_confidences.shape[1]:
        return []
    lead = np.repeat(predictions.lead, np.diff(bounds))
    return rounded(predictions.token_confidences[lead, np.arange(lead.size)].astype(np.float64))
