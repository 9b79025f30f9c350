"""The table `[checkpoint]`."""

from typing import Annotated

from pydantic import Field, PositiveFloat

from streamlin.config.base import Count, Strict


class CheckpointConfig(Strict):
    """Where and how often a run is saved.

    path : a folder; None: the run is not saved.
    every_events, every_seconds : save after this many events, or after this many seconds if there is anything new.
    """

    path: Annotated[str, Field(min_length=1)] | None = None
    every_events: Count = 50_000
    every_seconds: PositiveFloat = 60.0
