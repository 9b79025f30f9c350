"""The table `[mixing]`."""

from typing import Annotated

from pydantic import Field

from streamlin.config.base import Count, Strict


class MixingConfig(Strict):
    """Shards that learn side by side and are mixed after each round; see docs/sharding.md.

    shards : how many; None: the stream is learned in one piece, event by event.
    growth : a round has this share of the events seen so far.
    floor : but at least this many events for each shard.
    max_events : and never more than this many for all shards together.
    """

    shards: Annotated[Count, Field(le=4096)] | None = None
    growth: Annotated[float, Field(gt=0, le=1)] = 0.1
    floor: Count = 8
    max_events: Count = 100_000

    def round_size(self, events: int) -> int:
        """The events of the next round, after so many events."""
        assert self.shards is not None
        return min(self.max_events, max(self.floor * self.shards, int(self.growth * events)))
