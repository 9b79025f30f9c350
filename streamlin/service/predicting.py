"""Predictions for texts, while another thread learns."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from streamlin.checkpoint.run_state import RunState
from streamlin.config import RunConfig, further_fields
from streamlin.evaluation import Predictions
from streamlin.events import Batch, single_records
from streamlin.service.bodies import Text

_AT_ONCE, _CHARACTERS = 4, 4096
"""Up to so many texts, and characters in all, are predicted on the event loop itself."""
_TOGETHER = 100
"""Texts that are predicted in one go; learning waits meanwhile."""
_NO_RECORDS = single_records(())


class Predictor:
    """Predicts with the state of a run, which learns on another thread.

    A few texts are predicted at once if the state is free. Otherwise, and for many texts, a thread waits for it.

    state : the run's state. config : the run's configuration.
    """

    def __init__(self, state: RunState, config: RunConfig) -> None:
        self._model, self._lock = state.model, state.lock
        self._names, self._n_fields = further_fields(config), len(config.fields.text)
        self._threads = ThreadPoolExecutor(2, "streamlin-predict")

    async def predict(self, texts: Sequence[Text]) -> list[dict[str, Any]]:
        """A prediction for each text, JSON-able, as OpenAPI's schema `Prediction` says."""
        if len(texts) <= _AT_ONCE and sum(len(one.text) for one in texts) <= _CHARACTERS:
            batch = self._batch(texts)
            features = self._model.featurize(batch)
            if self._lock.acquire(blocking=False):
                try:
                    _, predictions = self._model.predict(batch, features)
                finally:
                    self._lock.release()
                return self._answers(batch, predictions)
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._predict_all, texts)

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown()

    def _predict_all(self, texts: Sequence[Text]) -> list[dict[str, Any]]:
        answers = []
        for begin in range(0, len(texts), _TOGETHER):
            batch = self._batch(texts[begin : begin + _TOGETHER])
            features = self._model.featurize(batch)
            with self._lock:
                _, predictions = self._model.predict(batch, features)
            answers += self._answers(batch, predictions)
        return answers

    def _batch(self, texts: Sequence[Text]) -> Batch:
        """The texts as a batch, each cut into the fields that it would have in a stream."""
        columns, pieces = [one.text for one in texts], None
        if self._n_fields > 1:
            cut = [text.split("\n", self._n_fields - 1) for text in columns]
            columns = [piece for own in cut for piece in own]
            pieces = np.cumsum([0, *map(len, cut)])
        n = len(texts)
        further = [one.further() for one in texts] if self._names else []
        return Batch(
            [one.id_text for one in texts],
            columns,
            [None] * n,
            np.ones(n),
            np.full(n, np.nan),
            {name: [own.get(name) for own in further] for name in self._names},
            _NO_RECORDS,
            np.zeros(n, np.int64),
            pieces,
        )

    def _answers(self, batch: Batch, predictions: Predictions) -> list[dict[str, Any]]:
        labels = [*self._model.labels.names, None]  # the list only grows; None stands for code -1, an abstention
        lead, confidences = predictions.lead.tolist(), _rounded(predictions.confidences)
        learners = self._model.names
        columns = zip(*([labels[code] for code in row] for row in predictions.predicted.tolist()), strict=True)
        answers = []
        for id_, best, confidence, predicted in zip(batch.ids, lead, confidences, columns, strict=True):
            answer: dict[str, Any] = {} if id_ is None else {"id": id_}
            answer["predicted"] = predicted[best]
            answer["confidence"] = confidence
            answer["learners"] = dict(zip(learners, predicted, strict=True))
            answers.append(answer)
        return answers


def _rounded(confidences: Any) -> list[float | None]:
    """Rounded to six decimals, as in prediction lines; None for NaN."""
    return [None if share != share else share for share in (np.floor(confidences * 1e6 + 0.5) / 1e6).tolist()]
