"""Predictions for texts, while another thread learns."""

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic

import numpy as np

from streamlin.checkpoint.run_state import RunState
from streamlin.config import RunConfig, further_fields
from streamlin.evaluation import Predictions
from streamlin.events import Batch, single_records
from streamlin.service.bodies import Kind, Text

_AT_ONCE = 4
"""Up to so many events are predicted on the event loop itself."""
_TOGETHER = 100
"""Events that are predicted in one go, at most, and in size 25 times `at_once`; learning waits meanwhile."""
_NO_RECORDS = single_records(())


class Predictor(Generic[Kind]):
    """Predicts with the state of a run, which learns on another thread.

    A few texts are predicted at once if the state is free. Otherwise, and for many texts, a thread waits for it.

    state : the run's state. config : the run's configuration.
    """

    at_once = 4096
    """How large they may be in all to be predicted on the event loop, by `Body.size`."""

    def __init__(self, state: RunState, config: RunConfig) -> None:
        self._model, self._lock = state.model, state.lock
        self._threads = ThreadPoolExecutor(2, "streamlin-predict")

    async def predict(self, texts: Sequence[Kind]) -> list[dict[str, Any]]:
        """A prediction for each text, JSON-able, as OpenAPI's schema `Prediction` says. Raises Refused."""
        if len(texts) <= _AT_ONCE and sum(one.size for one in texts) <= self.at_once:
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

    def _predict_all(self, texts: Sequence[Kind]) -> list[dict[str, Any]]:
        answers = []
        for some in self._portions(texts):
            batch = self._batch(some)
            features = self._model.featurize(batch)
            with self._lock:
                _, predictions = self._model.predict(batch, features)
            answers += self._answers(batch, predictions)
        return answers

    def _portions(self, texts: Sequence[Kind]) -> Iterator[Sequence[Kind]]:
        """The texts in portions that are predicted in one go."""
        begin = size = 0
        for number, text in enumerate(texts):
            size += text.size
            if number - begin == _TOGETHER or (number > begin and size > _TOGETHER // _AT_ONCE * self.at_once):
                yield texts[begin:number]
                begin, size = number, text.size
        yield texts[begin:]

    def _batch(self, texts: Sequence[Kind]) -> Batch:
        """The texts as a batch. Raises Refused."""
        raise NotImplementedError

    def _answers(self, batch: Batch, predictions: Any) -> list[dict[str, Any]]:
        raise NotImplementedError

    def _measures(self, predictions: Any) -> list[dict[str, float | None]]:
        """The measures of each event, by name."""
        names, each = self._model.measures.names, predictions.measures.T
        return [dict(zip(names, rounded(values), strict=True)) for values in each]


class TextPredictor(Predictor[Text]):
    """Predicts the label of texts."""

    def __init__(self, state: RunState, config: RunConfig) -> None:
        super().__init__(state, config)
        self._names, self._n_fields = further_fields(config), len(config.fields.text)

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
        lead, confidences = predictions.lead.tolist(), rounded(predictions.confidences)
        learners = self._model.names
        columns = zip(*([labels[code] for code in row] for row in predictions.predicted.tolist()), strict=True)
        templates = [None] * len(batch) if batch.templates is None else batch.templates.to_json()
        answers = []
        rows = zip(batch.ids, lead, confidences, self._measures(predictions), templates, columns, strict=True)
        for id_, best, confidence, measures, template, predicted in rows:
            answer: dict[str, Any] = {} if id_ is None else {"id": id_}
            answer["predicted"] = predicted[best]
            answer["confidence"] = confidence
            if template is not None:
                answer["template"] = template
            answer |= measures
            answer["learners"] = dict(zip(learners, predicted, strict=True))
            answers.append(answer)
        return answers


def rounded(values: Any) -> list[float | None]:
    """Rounded to six decimals, as in prediction lines; None for NaN."""
    return [None if value != value else value for value in (np.floor(values * 1e6 + 0.5) / 1e6).tolist()]
