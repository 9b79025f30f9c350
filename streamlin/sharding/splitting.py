"""Cutting portions where a round ends."""

from dataclasses import replace

import numpy as np

from streamlin.features import Buckets
from streamlin.model import Features
from streamlin.streams.reader import Portion


def split(portion: Portion, record: int) -> tuple[Portion, Portion]:
    """The portion before a record of it, and from there on."""
    events = int(np.searchsorted(portion.batch.kept, record))
    features = portion.features
    first = replace(
        portion,
        batch=portion.batch[:events],
        found=_slice(features, 0, events),
        dead=[letter for letter in portion.dead if letter.record < record],
        count=record,
    )
    rest = replace(
        portion,
        batch=portion.batch[events:],
        found=_slice(features, events, len(portion.batch)),
        dead=[letter for letter in portion.dead if letter.record >= record],
        begin=record,
    )
    return first, rest


def split_behind(portion: Portion, events: int) -> tuple[Portion, Portion]:
    """The portion up to its `events`-th event, of which there are more, and the rest."""
    return split(portion, int(portion.batch.kept[events - 1]) + 1)


def _slice(features: Features, begin: int, end: int) -> Features:
    return Features({view: _entries(found, begin, end) for view, found in features.items()})


def _entries(found: Buckets, begin: int, end: int) -> Buckets:
    first, last = int(found.indptr[begin]), int(found.indptr[end])
    return Buckets(found.indptr[begin : end + 1] - first, found.buckets[first:last], found.values[first:last])
