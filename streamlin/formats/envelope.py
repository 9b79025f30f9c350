"""Fields from outside a message's value: key, headers, timestamp, and position.

The value takes precedence; a field that the value lacks is looked up here under its configured name.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from streamlin.config import FieldsConfig
from streamlin.events import Batch
from streamlin.formats.values import checked_weights, names, number, unix_times


class Envelope:
    """Fills in missing fields of batches from `streamlin.events.Records.envelope`.

    fields, extra : the configured names.
    """

    def __init__(self, fields: FieldsConfig, extra: Sequence[str]) -> None:
        self._fields, self._extra = fields, extra

    def complete(self, batch: Batch, per_second: float = 1.0) -> Batch:
        """Fill in the batch, in place. Raises RecordError for a bad weight or time.

        per_second : see `unix_times`; a source's own timestamps are numbers in seconds, headers are texts.
        """
        fields = self._fields
        if batch.tokens is None and (values := self._values(batch, fields.label)) is not None:
            batch.labels = _filled(batch.labels, names(values))
        if (values := self._values(batch, fields.id)) is not None:
            batch.ids = _filled(batch.ids, names(values))
        if None in batch.ids and (ids := batch.records.default_ids(batch.kept)) is not None:
            batch.ids = _filled(batch.ids, _except_label_only(batch, ids))
        if (values := self._values(batch, fields.weight)) is not None:
            weights = [number(value, "weight") if isinstance(value, str) else value for value in values]
            batch.weights = np.where(batch.weights == 1.0, checked_weights(weights), batch.weights)
        if (values := self._values(batch, fields.time)) is not None:
            own = 1.0 if any(isinstance(value, float) for value in values) else per_second
            batch.times = np.where(np.isnan(batch.times), unix_times(values, own), batch.times)
        for name in self._extra:
            if (values := self._values(batch, name)) is not None:
                batch.extra[name] = _filled(batch.extra[name], names(values))
        return batch

    def _values(self, batch: Batch, name: str) -> list[Any] | None:
        return batch.records.envelope(name, batch.kept)


def _except_label_only(batch: Batch, ids: list[str]) -> Sequence[str | None]:
    """The ids, but None for an event that is only a label: it must name its text's id itself."""
    if batch.label_only is None:
        return ids
    return [None if is_label_only else id_ for id_, is_label_only in zip(ids, batch.label_only.tolist(), strict=True)]


def _filled(values: Sequence[str | None], others: Sequence[str | None]) -> list[str | None]:
    return [other if value is None else value for value, other in zip(values, others, strict=True)]
