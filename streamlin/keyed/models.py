"""The models of all keys: what `Model` asks for each batch, and what a checkpoint holds of them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.config import KeysConfig
from streamlin.delayed_labels.packing import expected_packed, packed, unpacked_texts
from streamlin.errors import CheckpointError
from streamlin.features import Buckets
from streamlin.features.key_rows import KeyRows
from streamlin.features.rows import Examples, RowIndex
from streamlin.keyed.labels import KeyLabels
from streamlin.keyed.learner import KeyedLearner
from streamlin.keyed.race import with_all_candidates
from streamlin.keyed.slots import Slots
from streamlin.keyed.tally import KeyTally
from streamlin.learners import Learner, Targets
from streamlin.learners.by_key import KeyedEvents
from streamlin.storage.arrays import Expected, Layout, arrays_under, expected, length_of

_ROOM = 12
"""Bytes of a row besides the tables: its bucket, and two places of a hash table."""


class Batched(NamedTuple):
    """The n events of a batch whose keys have a model, key by key.

    events : int64[n], which of the batch they are; then of each the slot of its key int32[n], the code int32[n], -1
        without a label, and the weight float64[n].
    goals : their targets by the labels of their keys.
    bounds : int64[m + 1], where the events of each of m keys begin and end.
    examples : their features by view, with the rows of their keys.
    keys : int32[m], the slots of these keys. begins, ends : by view, int64[m], the block of each one's rows.
    """

    events: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]
    goals: Targets
    bounds: NDArray[np.int64]
    examples: Mapping[str, Examples]
    keys: NDArray[np.int32]
    begins: Mapping[str, NDArray[np.int64]]
    ends: Mapping[str, NDArray[np.int64]]


class OwnModel(NamedTuple):
    """What explains the scores of a key's own model.

    rows : its rows. examples : an event. learner : a copy. codes : of its labels.
    """

    rows: RowIndex
    examples: Examples
    learner: Learner
    codes: list[int]


class KeyModels:
    """A model of each learner for each key.

    Parameters
    ----------
    config : the field, and the limit of keys.
    learners : those of the shared model, by name. view_of : the view that each reads. bits : of the views.
    answering : the names of these and of mixtures.

    without : events that have no key.
    """

    def __init__(
        self,
        config: KeysConfig,
        learners: Mapping[str, Learner],
        view_of: Mapping[str, str],
        bits: int,
        answering: Sequence[str],
    ) -> None:
        self.config, self.field, self.shared = config, str(config.per), config.shared
        self.slots, self.labels = Slots(config.max_keys), KeyLabels()
        self.learners = {name: KeyedLearner(name, learner) for name, learner in learners.items()}
        self.view_of = {name: view_of[name] for name in learners}
        self.rows = {view: KeyRows(bits) for view in dict.fromkeys(self.view_of.values())}
        self.answering, self.tally = list(answering), KeyTally(len(answering), len(learners))
        self.without = 0

    def __len__(self) -> int:
        return len(self.slots)

    def begin(self, keys: Sequence[str | None], features: Mapping[str, Buckets], goals: Targets) -> Batched:
        """Find the slots and rows of events, which their keys use from now on; labelled ones may bring some."""
        slots = self.slots.use(keys, goals.codes >= 0)
        self.labels.grow(self.slots.size)
        self.tally.grow(self.slots.size)
        for index in self.rows.values():
            index.grow(self.slots.size)
        batched = self._batched(slots, features, goals, goals.codes >= 0)
        for name, learner in self.learners.items():
            index = self.rows[self.view_of[name]]
            learner.grow(index.arena, self.slots.size, self.labels.width)
            learner.move(index.moves)
        return batched

    def look_up(self, keys: Sequence[str | None], features: Mapping[str, Buckets], goals: Targets) -> Batched:
        """The same for events that are only predicted; nothing changes."""
        return self._batched(self.slots.look_up(keys), features, goals, np.zeros(len(keys), np.bool_))

    def answer(self, name: str, batched: Batched, examples: Examples, scores: NDArray[np.float64]) -> None:
        """Score, race and learn; scores float64[events, n_labels] are the shared model's, and become the answers.

        examples : those of the learner's view, as it may read them.
        """
        begins, ends = (of[self.view_of[name]] for of in (batched.begins, batched.ends))
        keyed = KeyedEvents(*examples, *batched.goals, batched.bounds, batched.keys, begins, ends)
        own = np.empty((batched.goals.codes.size, self.labels.width))
        self.learners[name].score_then_learn(keyed, own)
        number, known = [*self.learners].index(name), batched.goals.known
        self.tally.answer(number, own, known, batched.events, self.labels.code_of, self.shared, scores)

    def complete(self, scores: NDArray[np.float64], known: NDArray[np.int64]) -> None:
        """Make the answers float64[M, n, n_labels] such as a mixture needs; see `with_all_candidates`."""
        with_all_candidates(scores, known)

    def finish(self, batched: Batched, predicted: NDArray[np.int32]) -> None:
        """Count the predictions int32[N, events] that were given; then free what dropped keys have used."""
        self.tally.count(batched.events, predicted)
        leaving = np.array(self.slots.leaving, np.int32)
        freed = {view: index.free(leaving) for view, index in self.rows.items()}
        if not leaving.size:
            return
        for name, learner in self.learners.items():
            learner.clear(freed[self.view_of[name]], leaving)
        self.labels.free(leaving)
        self.tally.free(leaving)
        self.slots.release()

    def _batched(
        self,
        slots: NDArray[np.int32],
        features: Mapping[str, Buckets],
        goals: Targets,
        learned: NDArray[np.bool_],
    ) -> Batched:
        """The events that have a slot, int32[n] with -1 for none, key by key."""
        order = np.argsort(slots, kind="stable")[np.count_nonzero(slots < 0) :]
        slots, learned = slots[order], learned[order]
        own = Targets(goals.codes[order], goals.known[order], goals.weights[order])
        examples = {}
        for view, index in self.rows.items():
            found = features[view].take(order)
            rows, rows_before = index.assign(found, slots, learned)
            examples[view] = Examples(found.indptr, rows, found.values, rows_before)
        bounds = np.append(np.flatnonzero(np.diff(slots, prepend=-1)), slots.size)
        events, keys = (order, slots, own.codes, own.weights), slots[bounds[:-1]]
        begins = {view: index.begin[keys] for view, index in self.rows.items()}
        ends = {view: begins[view] + index.room[keys] for view, index in self.rows.items()}
        return Batched(events, self.labels.assign(slots, own), bounds, examples, keys, begins, ends)

    def own_model(self, name: str, key: str | None, features: Mapping[str, Buckets]) -> OwnModel | None:
        """What explains an event, given its features by view; None if the key's own model does not answer."""
        slots, view = self.slots.look_up([key]), self.view_of[name]
        slot = int(slots[0])
        if slot < 0 or (self.shared and not self.tally.are_ahead([*self.learners].index(name), slots)[0]):
            return None
        begin, count = int(self.rows[view].begin[slot]), int(self.rows[view].count[slot])
        index, codes = RowIndex(self.rows[view].bits), self.labels.code_of[slot, : self.labels.count[slot]].tolist()
        index.restore(self.rows[view].bucket_of[begin : begin + count])
        return OwnModel(
            index, index.examples(features[view]), self.learners[name].of_key(slot, begin, count, len(codes)), codes
        )

    def table_bytes(self, rows: Mapping[str, int], keys: int, labels: int) -> int:
        """The size of all tables for so many rows of keys by view, keys, and labels of the key that has most."""
        of_rows = sum(learner.row_bytes(labels) * rows[self.view_of[name]] for name, learner in self.learners.items())
        of_slots = sum(learner.slot_bytes(labels) for learner in self.learners.values()) * keys
        return of_rows + of_slots + _ROOM * sum(rows.values())

    def to_json(self, details: bool) -> dict[str, Any]:
        """What a report has of keys."""
        slots, names = self.slots.numbers, self.slots.names
        told = self.tally.to_json(slots, names, self.answering, [*self.learners], self.shared, details)
        return {
            "per": self.field,
            "keys": len(self),
            "max_keys": self.slots.limit,
            "dropped": self.slots.dropped,
            "without_key": self.without,
            "rows": {view: len(index) for view, index in self.rows.items()},
        } | told

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays by name: of each key in turn, the least recently used first, whatever its slot."""
        slots, labels = self.slots.numbers, self._most_labels()
        arrays = packed("names", self.slots.names) | {"counts": np.array([self.slots.dropped, self.without])}
        arrays |= self.labels.state(slots) | self.tally.state(slots)
        for view, index in self.rows.items():
            arrays |= {f"{name}/{view}": array for name, array in index.state(slots).items()}
        for name, learner in self.learners.items():
            tables = learner.state(self.rows[self.view_of[name]].rows_of(slots), slots, labels)
            arrays |= {f"learners/{name}/{table}": array for table, array in tables.items()}
        return arrays

    def expected(self, layout: Mapping[str, Layout], n_labels: int) -> dict[str, Expected]:
        """What the arrays of a `state` must be; layout : of those in the file."""
        keys = length_of(layout, "label_counts")
        arrays = expected_packed("names") | {"counts": expected(np.int64, 2)}
        arrays |= self.labels.expected(keys, n_labels) | self.tally.expected(keys)
        for view, index in self.rows.items():
            arrays |= {f"{name}/{view}": array for name, array in index.expected(keys).items()}
        for name, learner in self.learners.items():
            tables = learner.expected(length_of(layout, f"buckets/{self.view_of[name]}"), keys)
            arrays |= {f"learners/{name}/{table}": array for table, array in tables.items()}
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore what `state` returned. Raises CheckpointError if the arrays contradict each other."""
        names, slots = unpacked_texts("names", arrays), np.arange(len(arrays["label_counts"]), dtype=np.int32)
        if len(names) != slots.size:
            raise CheckpointError("the checkpoint's names of keys are not as many as its keys")
        dropped, self.without = arrays["counts"].tolist()
        self.slots.restore(names, dropped)
        self.labels.restore(arrays)
        self.tally.restore({name: arrays[name] for name in self.tally.expected(0)})
        for view, index in self.rows.items():
            index.restore({name: arrays[f"{name}/{view}"] for name in index.expected(0)})
        for name, learner in self.learners.items():
            index, labels = self.rows[self.view_of[name]], self._most_labels()
            learner.grow(index.arena, slots.size, self.labels.width)
            learner.restore(arrays_under(arrays, f"learners/{name}/"), index.rows_of(slots), labels)

    def _most_labels(self) -> int:
        """Those of the key that has most."""
        return int(self.labels.count[self.slots.numbers].max(initial=0))
