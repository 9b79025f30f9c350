"""A lane: one reader, whose events go to one shard or are dealt to all."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import ConnectorError, spelled
from streamlin.sharding.cuts import Cuts
from streamlin.sharding.splitting import split, split_behind
from streamlin.streams.reader import Portion, Reader


class Lane:
    """Reads what a round takes of one source.

    Parameters
    ----------
    reader : gives portions. shard : whose events they are; None: record i is dealt to shard i modulo `shards`.
    records : how many records were dealt before.

    is_ended : whether there is nothing more to read, for good.
    """

    def __init__(self, reader: Reader, shard: int | None, shards: int, records: int = 0) -> None:
        self.reader, self._shard, self._shards, self._records = reader, shard, shards, records
        self._portions = iter(reader)
        self._rest: Portion | None = None
        self.is_ended = False

    def take(self, events: int, wait: bool) -> Iterator[Portion | None]:
        """Portions of up to so many events. None while the source has nothing; the last one, unless `wait`."""
        while events > 0:
            portion = self._next()
            if portion is not None and len(portion.batch) > events:
                portion, self._rest = split_behind(portion, events)
            if portion is not None:
                events -= len(portion.batch)
            elif self.is_ended or not wait:
                return
            yield portion

    def take_until(self, cuts: Cuts) -> Iterator[Portion | None]:
        """Portions up to the cuts of a plan; None while the source has nothing.

        Raises
        ------
        ConnectorError : the source ends before, or has something else there.
        """
        left = dict(cuts)
        while left:
            portion = self._next()
            if portion is None and self.is_ended:
                part, cut = next(iter(left.items()))
                raise ConnectorError(f"{spelled(part)} ends before offset {cut:,}, up to which a round was planned")
            if portion is not None and portion.records.key not in left:
                part = next(iter(left))
                raise ConnectorError(f"a round was planned of {spelled(part)}, found {portion.records.name(0)} instead")
            if portion is not None:
                portion = self._until(portion, left)
            yield portion

    def _until(self, portion: Portion, left: dict[str, int]) -> Portion:
        """The portion up to the cut of its part; a part that is read up to there is removed from `left`."""
        records, part = portion.records, portion.records.key
        last = int(np.searchsorted(records.offsets, left[part]))
        if last < portion.count:
            portion, self._rest = split(portion, last)
        if portion.count and records.position(portion.count)["offset"] >= left[part]:
            del left[part]
        return portion

    def deal(self, portion: Portion) -> NDArray[np.int32]:
        """int32[n]: the shard of each event; call it for each portion, in order."""
        kept, begin = portion.batch.kept, portion.begin
        if self._shard is not None:
            return np.full(kept.size, self._shard, np.int32)
        numbers = self._records + kept - begin
        self._records += portion.count - begin
        return (numbers % self._shards).astype(np.int32)

    def _next(self) -> Portion | None:
        """What is left of the last portion, or the next one; None if there is none yet, or none at all."""
        if self._rest is not None:
            portion, self._rest = self._rest, None
            return portion
        try:
            return next(self._portions)
        except StopIteration:
            self.is_ended = True
            return None
