"""Bounds of the lengths of labels, ids and further fields."""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple, Self

from streamlin.config.pipeline import PipelineConfig
from streamlin.errors import RecordError
from streamlin.events import Batch, Records
from streamlin.formats.tokens import tags_of

_MOST_OF_NUMBER = 512
"""Characters; no number is longer as text, but a short one in JSON, 1e300, may become a long one."""


class Lengths(NamedTuple):
    """The most characters that a label, an id and a further field may have.

    message : a further field that is read as a text is, and may be as long; None: there is none.
    """

    label: int = PipelineConfig().max_label_characters
    id: int = PipelineConfig().max_id_characters
    field: int = PipelineConfig().max_field_characters
    message: str | None = None

    @classmethod
    def of(cls, config: PipelineConfig, message: str | None = None) -> Self:
        """The configured ones."""
        return cls(config.max_label_characters, config.max_id_characters, config.max_field_characters, message)

    def check(self, batch: Batch) -> None:
        """Raise RecordError if one is longer."""
        if not self._may_be_long(batch):
            return
        columns = {"label": (batch.labels, self.label), "id": (batch.ids, self.id)}
        if batch.tokens is not None:
            labels = () if batch.label_only is None else batch.labels  # else trees, which are checked as they are read
            late = (tags_of(label) for label in labels if label is not None)
            columns["label"] = ([*batch.tokens.distinct_tags.values, *chain.from_iterable(late)], self.label)
        for name, (values, most) in columns.items():
            _check(f"the {name}", f"pipeline.max_{name}_characters", values, most)
        for name, values in batch.extra.items():
            if name != self.message:
                _check(f"the field {name!r}", "pipeline.max_field_characters", values, self.field)

    def check_labels(self, labels: Sequence[str]) -> None:
        """Raise RecordError if a label is longer."""
        _check("the label", "pipeline.max_label_characters", labels, self.label)

    def _may_be_long(self, batch: Batch) -> bool:
        """False if the records are too short to hold a long value; most are, and nothing has to be looked at."""
        records = batch.records
        least = min(self.label, self.id, self.field)
        if type(records).envelope is not Records.envelope or least < _MOST_OF_NUMBER:
            return len(batch) > 0
        sizes = (records.ends - records.starts)[batch.kept]
        return bool((sizes > least).any())


def _check(name: str, key: str, values: Sequence[str | None], most: int) -> None:
    longest = max(map(len, filter(None, values)), default=0)
    if longest > most:
        raise RecordError(f"{name} has {longest:,} characters, expected at most {key} = {most:,}")
