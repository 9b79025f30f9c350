"""What shards read: lanes, the plans of rounds, and the rounds."""

import threading

from streamlin.checkpoint.run_state import RunState
from streamlin.running.readers import OpenSource, Readers
from streamlin.sharding.gathering import Gathering
from streamlin.sharding.model import ShardedModel
from streamlin.sharding.plan_log import PlanLog
from streamlin.streams.addresses import Address
from streamlin.streams.reader import Reader


class ShardedReading:
    """The reading side of a run with shards.

    readers : one for each lane. gathering : gives the rounds. plans : their log.

    Raises
    ------
    ConfigError, ConnectorError, CheckpointError : the source can't be shared, or the plans can't be used.
    """

    def __init__(
        self,
        state: RunState,
        model: ShardedModel,
        readers: Readers,
        address: Address | None,
        source: OpenSource | None,
        limit: int | None,
        stop: threading.Event,
    ) -> None:
        lanes = readers.open_lanes(address, source, model.rounds, model.n_shards)
        self.readers: list[Reader] = [lane.reader for lane in lanes]
        self.plans = PlanLog(state.folder, model.rounds.number, state.config.checkpoint.mode)
        live = state.config.source.follow or _has_no_end(address)
        events, size_after = model.prequential.events, model.mixing.round_size
        self.gathering = Gathering(lanes, size_after, events, model.rounds.number, self.plans, live, limit, stop)

    def close(self) -> None:
        """Close the log."""
        self.plans.close()


def _has_no_end(address: Address | None) -> bool:
    """Whether a source may have nothing for a long time: a topic, unless it is read up to its end."""
    return address is not None and address.scheme == "kafka" and address.options.get("stop") != "end"
