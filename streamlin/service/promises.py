"""What accepted events may still bring, so that none is accepted that the limits of labels and tables forbid to learn.

An accepted event is on disk for good: if it could not be learned, the service would end there, at every start.
"""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from streamlin.checkpoint.run_state import RunState
from streamlin.config import RunConfig
from streamlin.delayed_labels.plan import old_texts
from streamlin.events import single_records
from streamlin.formats.json import JsonFormat
from streamlin.running.admission import Admission
from streamlin.service.body import Body
from streamlin.service.problems import RETRY, Refused
from streamlin.service.source import JournalSource


class _Promise(NamedTuple):
    """Accepted events: the number of lines up to the last of them, how large they are in all, and their number."""

    end: int
    size: int
    events: int


class Promises:
    """Counts what is accepted and not learned yet; for use on one event loop.

    Parameters
    ----------
    admission : the limits of the model.
    state : the run's state. source : has read everything that was accepted before. lines : the format of the lines.
    """

    def __init__(
        self, config: RunConfig, admission: Admission, state: RunState, source: JournalSource, lines: JsonFormat
    ) -> None:
        self._admission, self._state, self._source, self._format = admission, state, source, lines
        self._pieces, self._end = len(config.fields.text), source.taken
        self._keyed = config.keys.per is not None
        self._noun = "tag" if config.task == "tagging" else "label"
        self._labels, self._looked = set[str](), 0
        self._waiting: deque[_Promise] = deque()

    async def admit(self, bodies: Sequence[Body], lines: Sequence[bytes]) -> None:
        """Count events, given also as the lines that are stored, among those that are accepted.

        Raises
        ------
        Refused : they can't be learned; or not surely, as long as others wait.
        """
        size, new = sum(body.size for body in bodies), self._new_labels(bodies)
        of_keys = self._of_keys(size, len(bodies), len(self._labels) + len(new))
        if not self._admission.fits_any_text(len(self._labels) + len(new), *of_keys):
            rows = await asyncio.to_thread(self._rows_of, lines)
            new = self._new_labels(bodies)  # others may have been accepted meanwhile
            self._check_tables(rows, len(self._labels) + len(new), size, len(bodies))
        self._labels |= new
        self._end += len(bodies)
        self._waiting.append(_Promise(self._end, size, len(bodies)))
        self._forget_learned()

    def _new_labels(self, bodies: Sequence[Body]) -> set[str]:
        """The labels that events bring. Raises Refused if they are too many."""
        names, limit = self._state.model.labels.names, self._admission.max_labels
        self._labels.update(names[self._looked :])
        self._looked = len(names)
        given = dict.fromkeys(label for body in bodies for label in body.labels)
        new = [label for label in given if label not in self._labels]
        if new and len(self._labels) + len(new) > limit:
            label, noun = new[max(0, limit - len(self._labels))], self._noun
            raise Refused(409, f"{noun} {label!r:.60} exceeds pipeline.max_labels = {limit:,} different {noun}s")
        return set(new)

    def _of_keys(self, size: int, events: int, n_labels: int, waiting: bool = True) -> tuple[int, ...]:
        """The most that models per key may need with events of this size, and those that wait; () if there are none."""
        if not self._keyed:
            return ()
        for promise in self._waiting if waiting else ():
            size, events = size + promise.size, events + promise.events
        return (self._admission.most_of_keys(size, events * self._pieces, n_labels),)

    def _check_tables(self, own: Mapping[str, int], n_labels: int, size: int, events: int) -> None:
        """Raise Refused unless the tables have room for new rows, by view, and for those of events that wait.

        size, events : of those that bring the rows.
        """
        self._forget_learned()
        model, admission = self._state.model, self._admission
        rows = {view: len(index) + own[view] for view, index in model.rows.items()}
        if admission.table_bytes(rows, n_labels, *self._of_keys(size, events, n_labels, False)) > admission.max_bytes:
            raise Refused(409, admission.too_large(rows, n_labels))
        of_keys = self._of_keys(size, events, n_labels)
        size, events = (sum(promise[column] for promise in self._waiting) for column in (1, 2))
        most = admission.most_rows(size, events * self._pieces)
        rows = {view: min(1 << index.bits, rows[view] + most[view]) for view, index in model.rows.items()}
        if admission.table_bytes(rows, n_labels, *of_keys) > admission.max_bytes:
            raise Refused(503, "the learners' tables may become too large with the events that wait; try again", RETRY)

    def _rows_of(self, lines: Sequence[bytes]) -> dict[str, int]:
        """How many rows the events bring to each view; a label by id those of the text that waits."""
        model = self._state.model
        batch, _ = self._format.decode(single_records(lines))
        counts = self._admission.new_rows(model.featurize(batch))
        if batch.label_only is not None and model.delayed_labels is not None:
            with self._state.lock:
                waiting = model.delayed_labels.texts_due(batch)
            old = self._admission.new_rows(model.featurize(old_texts(waiting, model.further_fields, batch)))
            counts = {view: count + old[view] for view, count in counts.items()}
        return counts

    def _forget_learned(self) -> None:
        """The tables have the rows of what was learned by now."""
        while self._waiting and self._waiting[0].end <= self._source.learned:
            self._waiting.popleft()
