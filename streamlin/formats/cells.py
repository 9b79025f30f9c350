"""Batches from columns of cells: those of CSV, or the named groups of a regular expression."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from streamlin.config import FieldsConfig
from streamlin.events import Batch, Records
from streamlin.formats.base import texts_and_pieces
from streamlin.formats.utf8 import Indices
from streamlin.formats.values import Scalar, checked_weights, names, number, unix_times

Cells = Sequence[str | None]
"""A column; `""` and None are empty cells."""


def wanted_names(fields: FieldsConfig, extra: Sequence[str]) -> list[str]:
    """The names of all fields to read, without repeats."""
    return list(dict.fromkeys([*fields.text, fields.label, fields.id, fields.weight, fields.time, *extra]))


def batch_of_cells(
    records: Records,
    kept: Indices,
    columns: Mapping[str, Cells],
    fields: FieldsConfig,
    extra: Sequence[str],
    time: Callable[[str], Scalar] = str,
    per_second: float = 1.0,
    delayed_labels: bool = False,
) -> Batch:
    """The batch of columns of cells, which must include all text fields.

    An empty cell is an empty text, weight 1, and otherwise a missing value.
    time : converts a time cell that is not empty. per_second : see `unix_times`.
    delayed_labels : a row with an id and a label but only empty texts is the label of the text with that id.
    Raises RecordError for a bad weight or time, and where all texts of an event are None.
    """
    nothing = [None] * kept.size

    def column(name: str) -> Cells:
        return columns.get(name, nothing)

    text_columns = [columns[name] for name in fields.text]
    texts, pieces = texts_and_pieces(text_columns, "the text is missing")
    ids, labels = names(column(fields.id)), names(column(fields.label))
    label_only = _label_only(text_columns, ids, labels) if delayed_labels else None
    return Batch(
        ids=ids,
        texts=texts,
        labels=labels,
        weights=checked_weights([number(cell, fields.weight) if cell else None for cell in column(fields.weight)]),
        times=unix_times([time(cell) if cell else None for cell in column(fields.time)], per_second),
        extra={name: names(column(name)) for name in extra},
        records=records,
        kept=kept,
        pieces=pieces,
        label_only=label_only,
    )


def _label_only(texts: Sequence[Cells], ids: Cells, labels: Cells) -> NDArray[np.bool_] | None:
    label_only = np.array(
        [bool(id_ and label) and not any(cells) for id_, label, *cells in zip(ids, labels, *texts, strict=True)],
        np.bool_,
    )
    return label_only if label_only.any() else None
