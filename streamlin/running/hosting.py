"""Workers that learn the shards of a model, for the time of a run."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from streamlin.config import RunConfig
from streamlin.sharding.hosts import Hosts
from streamlin.sharding.model import ShardedModel


@contextmanager
def hosting(config: RunConfig, model: ShardedModel, notice: Callable[[str], None]) -> Iterator[Hosts]:
    """While entered, the workers of the configuration, which are given, learn the model's shards.

    Raises
    ------
    ConfigError, ConnectorError : see `streamlin.cluster.workers.Workers`.
    """
    from streamlin.cluster.workers import Workers  # not loaded where no worker is wanted

    with closing(Workers(config, model, notice)) as workers:
        model.hosts = workers
        try:
            yield workers
        finally:
            model.hosts = None
