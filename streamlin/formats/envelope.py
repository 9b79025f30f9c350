"""What a message says outside its value: key, headers, time stamp, and where it stands.

A field of the value itself comes first; what an event lacks is looked for here, under the configured name.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from streamlin.config import FieldsConfig
from streamlin.events import Batch
from streamlin.formats.values import checked_weights, names, number, unix_times


class Envelope:
    """Completes batches from what their records' source says of them, see `streamlin.events.Records.envelope`.

    fields, extra : names as configured.
    """

    def __init__(self, fields: FieldsConfig, extra: Sequence[str]) -> None:
        self._fields, self._extra = fields, extra

    def complete(self, batch: Batch) -> Batch:
        """The batch, filled up in place. Raises RecordError where a weight or time is none."""
        fields = self._fields
        if (found := self._found(batch, fields.label)) is not None:
            batch.labels = _filled(batch.labels, names(found))
        if (found := self._found(batch, fields.id)) is not None:
            batch.ids = _filled(batch.ids, names(found))
        if None in batch.ids and (ids := batch.records.default_ids(batch.kept)) is not None:
            batch.ids = _filled(batch.ids, _but_label_only(batch, ids))
        if (found := self._found(batch, fields.weight)) is not None:
            weights = [number(value, "weight") if isinstance(value, str) else value for value in found]
            batch.weights = np.where(batch.weights == 1.0, checked_weights(weights), batch.weights)
        if (found := self._found(batch, fields.time)) is not None:
            batch.times = np.where(np.isnan(batch.times), unix_times(found), batch.times)
        for name in self._extra:
            if (found := self._found(batch, name)) is not None:
                batch.extra[name] = _filled(batch.extra[name], names(found))
        return batch

    def _found(self, batch: Batch, name: str) -> list[Any] | None:
        return batch.records.envelope(name, batch.kept)


def _but_label_only(batch: Batch, ids: list[str]) -> Sequence[str | None]:
    """None for what is but a label: it has to say whose."""
    if batch.label_only is None:
        return ids
    return [None if is_label_only else id_ for id_, is_label_only in zip(ids, batch.label_only.tolist(), strict=True)]


def _filled(values: list[str | None], others: Sequence[str | None]) -> list[str | None]:
    return [other if value is None else value for value, other in zip(values, others, strict=True)]
