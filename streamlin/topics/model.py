"""The clusterers with their views, words and metrics: what `streamlin.model.Model` is for classifiers."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.config import ClustererConfig, RunConfig
from streamlin.errors import CheckpointError
from streamlin.evaluation.measures import Measures
from streamlin.evaluation.predictions import Predictions
from streamlin.evaluation.topics import TopicPredictions, TopicsPrequential
from streamlin.events import Batch, LabelIndex
from streamlin.features import Buckets, View
from streamlin.features.names import Names
from streamlin.features.rows import Examples
from streamlin.model import Features, Learned
from streamlin.storage.arrays import Expected, Layout, arrays_under, length_of
from streamlin.tagging.rows import TokenRows
from streamlin.topics.base import Assigned
from streamlin.topics.kinds import from_config
from streamlin.topics.lines import TopicLines

_CLUSTERS, _WORDS = 100, 8
"""In a report: clusters of each clusterer, the largest ones, and the heaviest words of each."""


class _Rows(NamedTuple):
    """The examples of a batch in one view, and the rows before each event."""

    examples: Examples
    before: NDArray[np.int64]


class TopicModel:
    """The views, the rows of their features, the clusterers, and their metrics; labels only measure them.

    `featurize` reads no state, so it may run ahead on another thread; `step` must get the batches in order.
    """

    external_models: Mapping[str, Any] = {}
    views_of: Mapping[str, tuple[str, ...]] = {}
    """Views of learners with weights of labels: none."""
    delayed_labels = None
    asking = None
    measures = Measures()

    def __init__(self, config: RunConfig) -> None:
        self.labels = LabelIndex()
        """The labels that are counted one by one."""
        self.learned: Learned
        """The texts of the last `step`, without predicted labels."""
        configs = [learner for learner in config.learners if isinstance(learner, ClustererConfig)]
        self.learners = {learner.name: from_config(learner) for learner in configs}
        self.names = list(self.learners)
        self.view_of_learner = {learner.name: learner.features for learner in configs}
        bits, in_use = config.features.bits, set(self.view_of_learner.values())
        self.views = {
            name: View(view, bits, config.fields.categories)
            for name, view in config.features.views.items()
            if name in in_use
        }
        self.rows = {name: TokenRows(bits, config.features.max_rows) for name in self.views}
        self.feature_names = {name: Names(config.features.names) for name in self.views}
        lead = config.evaluation.lead
        self._lead = 0 if lead is None else self.names.index(lead)
        clusters = [learner.clusters for learner in self.learners.values()]
        self.prequential = TopicsPrequential(self.names, config.evaluation, clusters, self.topics, self._in_use)
        self._most_labels = config.evaluation.confusion_labels
        self._notices: list[str] = []
        self._told = set[str]()

    def featurize(self, batch: Batch) -> Features:
        """The features of a batch, by view."""
        return Features({name: view.buckets(batch) for name, view in self.views.items()})

    def step(self, batch: Batch, features: Features) -> tuple[Batch, TopicPredictions]:
        """Give each text its clusters, then learn it, text by text. Returns the batch and its clusters."""
        learned = batch.weights > 0
        rows = self._rows(features, learned)
        for view, names in self.feature_names.items():
            if not names.is_full:
                index = self.rows[view].index
                names.note(self.views[view], (batch,), np.arange(len(batch)), learned, rows[view].before, index)
        found = self._assign(rows, batch.weights)
        prequential = self.prequential
        codes = prequential.codes(self.labels, batch.labels, batch.weights)
        prequential.topics.update(
            np.array([one.slots for one in found]),
            np.array([one.similarities for one in found]),
            np.array([one.new for one in found]),
            codes,
            batch.weights,
        )
        prequential.events += len(batch)
        prequential.labelled += len(batch) - batch.labels.count(None)
        predictions = self._predictions(found, len(batch))
        self.learned = Learned(batch, np.full(len(batch), -1, np.int32), _no_labels(len(batch)), (batch, batch[:0]))
        return batch, predictions

    def predict(self, batch: Batch, features: Features) -> tuple[Batch, TopicPredictions]:
        """The clusters of texts, without learning; nothing changes."""
        nothing = np.zeros(len(batch))
        rows = self._rows(features, nothing > 0)
        return batch, self._predictions(self._assign(rows, nothing), len(batch))

    def given_out(self, batch: Batch, predictions: TopicPredictions) -> list[Any]:
        """The number of each text's cluster; None for a text without."""
        numbers = predictions.numbers[predictions.lead, np.arange(len(batch))]
        return [number or None for number in numbers.tolist()]

    def columns(self, batch: Batch, predictions: TopicPredictions) -> dict[str, list[Any]]:
        """What a data frame of predictions holds besides the ids."""
        similarities = predictions.similarities[predictions.lead, np.arange(len(batch))].tolist()
        return {
            "predicted": self.given_out(batch, predictions),
            "confidence": [None if share != share else share for share in similarities],
            **{
                name: [number or None for number in row]
                for name, row in zip(self.names, predictions.numbers.tolist(), strict=True)
            },
            "label": batch.labels,
        }

    def lines(self) -> TopicLines:
        """What makes the lines of its predictions."""
        return TopicLines(self.names)

    def pop_notices(self) -> list[str]:
        """The notices since the last call, which removes them."""
        notices, self._notices = self._notices, []
        return notices

    def topics(self, details: bool = True) -> dict[str, list[dict[str, Any]]]:
        """For each clusterer its clusters, the largest first: number, weight of texts, heaviest words, commonest label.

        details : False leaves out the words.
        """
        return {name: self._topics(number, name, details) for number, name in enumerate(self.names)}

    def _topics(self, number: int, name: str, details: bool) -> list[dict[str, Any]]:
        learner, view = self.learners[name], self.view_of_learner[name]
        order = [slot for slot in np.argsort(-learner.weights, kind="stable").tolist() if learner.numbers[slot]]
        order = order[:_CLUSTERS]
        words = self._heaviest(learner.word_weights(len(self.rows[view])), view, order) if details else {}
        found = []
        for slot in order:
            cells = self.prequential.topics.cells[number, slot]
            row: dict[str, Any] = {"number": int(learner.numbers[slot]), "texts": float(learner.weights[slot])}
            if details:
                row |= {"words": words[slot]}
            if cells.any():
                code = int(cells.argmax())
                name = self.labels.names[code] if code < len(self.labels) else "(other)"
                row |= {"label": name, "label_share": float(cells[code] / cells.sum())}
            found.append(row)
        return found

    def _heaviest(self, weights: NDArray[np.float64], view: str, slots: list[int]) -> dict[int, list[str]]:
        """The heaviest words of some clusters; buckets whose names are not kept are left out."""
        rows = self.rows[view].index
        heaviest: dict[int, list[int]] = {}
        for slot in slots:
            heaviest[slot] = rows.buckets[_largest(weights[:, slot], 2 * _WORDS)].tolist()
        buckets = {bucket for own in heaviest.values() for bucket in own}
        names = self.feature_names[view].of_buckets(buckets, rows.bits)
        return {
            slot: [names[bucket][0] for bucket in own if bucket in names][:_WORDS] for slot, own in heaviest.items()
        }

    def _rows(self, features: Mapping[str, Buckets], learned: NDArray[np.bool_]) -> dict[str, _Rows]:
        """The rows of a batch by view; learned texts bring rows for their new buckets."""
        found = {}
        for view, (indptr, buckets, values) in features.items():
            rows, before = self.rows[view].assign(indptr, buckets.reshape(-1, 1), learned)
            if self.rows[view].full:
                most = self.rows[view].capacity
                self._tell(f"features.max_rows: there are {most:,} features, further ones are ignored")
            if values.min(initial=0.0) < 0:
                values = np.maximum(values, np.float32(0.0))
                self._tell("values below 0 are taken as 0, since words are counted")
            found[view] = _Rows(Examples(indptr, rows.reshape(-1), values, before), before)
        return found

    def _tell(self, line: str) -> None:
        """Have a line shown, once."""
        if line not in self._told:
            self._told.add(line)
            self._notices.append(line)

    def _assign(self, rows: Mapping[str, _Rows], weights: NDArray[np.float64]) -> list[Assigned]:
        """What each clusterer says of each text."""
        found = []
        for name, learner in self.learners.items():
            view = self.view_of_learner[name]
            learner.grow(len(self.rows[view]))
            found.append(learner.assign(rows[view].examples, weights))
        return found

    def _predictions(self, found: list[Assigned], n: int) -> TopicPredictions:
        numbers, similarities, new = (
            np.array([getattr(one, name) for one in found]) for name in ("numbers", "similarities", "new")
        )
        return TopicPredictions(numbers, similarities, new, np.full(n, self._lead, np.int32))

    def _in_use(self) -> NDArray[np.int64]:
        return np.array([np.count_nonzero(learner.numbers) for learner in self.learners.values()], np.int64)

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays by name, and everything else as JSON-able values."""
        arrays: dict[str, NDArray[Any]] = {f"rows/{view}": rows.index.buckets for view, rows in self.rows.items()}
        for view, names in self.feature_names.items():
            arrays |= {f"names/{view}/{name}": array for name, array in names.state().items()}
        for name, learner in self.learners.items():
            tables = learner.state(len(self.rows[self.view_of_learner[name]]))
            arrays |= {f"learners/{name}/{table}": array for table, array in tables.items()}
        measured, counts = self.prequential.state()
        arrays |= {f"evaluation/{name}": array for name, array in measured.items()}
        return arrays, {"labels": self.labels.names, "evaluation": counts}

    def expected(self, layout: Mapping[str, Layout], n_labels: int) -> dict[str, Expected]:
        """What the arrays of a checkpoint with so many labels must be. layout : of the arrays in the file."""
        arrays = {f"rows/{view}": rows.index.expected()[0] for view, rows in self.rows.items()}
        for view, names in self.feature_names.items():
            if any(name.startswith(f"names/{view}/") for name in layout):
                arrays |= {f"names/{view}/{name}": array for name, array in names.expected().items()}
        for name, learner in self.learners.items():
            n_rows = length_of(layout, f"rows/{self.view_of_learner[name]}")
            tables = learner.expected(n_rows, arrays_under(layout, f"learners/{name}/"))
            arrays |= {f"learners/{name}/{table}": array for table, array in tables.items()}
        return arrays | {f"evaluation/{name}": array for name, array in self.prequential.expected(n_labels).items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        """Restore a `state` into a new model of the same configuration."""
        if len(rest["labels"]) > self._most_labels:
            raise CheckpointError(
                f"the checkpoint has more than evaluation.confusion_labels = {self._most_labels} labels"
            )
        self.labels = LabelIndex(rest["labels"])
        for view, rows in self.rows.items():
            rows.index.restore(arrays[f"rows/{view}"])
            self.feature_names[view].restore(arrays_under(arrays, f"names/{view}/"))
        for name, learner in self.learners.items():
            learner.restore(arrays_under(arrays, f"learners/{name}/"))
        self.prequential.restore(arrays_under(arrays, "evaluation/"), rest["evaluation"])

    def close(self) -> None:
        """Nothing is open."""


def _largest(weights: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """The places of the n largest weights above 0, the largest first, of equal ones the first."""
    if weights.size > n:
        least = np.partition(weights, weights.size - n)[weights.size - n]
        places = np.flatnonzero(weights >= max(least, 1e-300))
    else:
        places = np.flatnonzero(weights > 0)
    order: NDArray[np.int64] = places[np.argsort(-weights[places], kind="stable")][:n]
    return order


def _no_labels(n: int) -> Predictions:
    """For those who look for wrong labels."""
    none = np.full((1, n), -1, np.int32)
    return Predictions(none, np.zeros(n, np.int32), np.full(n, np.nan), np.full((2, n), -1, np.int32), np.empty((0, n)))
