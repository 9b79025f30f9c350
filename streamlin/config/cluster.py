"""The table `[cluster]`."""

from typing import Annotated

from pydantic import Field

from streamlin.config.base import Count, Strict


class ClusterConfig(Strict):
    """Worker processes that learn the shards; see docs/workers.md. Nothing here changes a result.

    workers : how many; None: the shards are learned in the process of the run.
    address : HOST:PORT of a Ray cluster to join; None: one is started on this machine, for the time of the run.
    """

    workers: Annotated[Count, Field(le=1024)] | None = None
    address: Annotated[str, Field(pattern=r"^[^\s/@]+:[0-9]{1,5}$")] | None = None
