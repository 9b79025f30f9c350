"""The table `[checkpoint]`."""

from typing import Annotated

from pydantic import Field, PositiveFloat

from streamlin.config.base import Count, Strict


class CheckpointConfig(Strict):
    """Where and how often a run is saved: after so many events, and after so many seconds if anything is new.

    path : a folder; None: nowhere.
    """

    path: Annotated[str, Field(min_length=1)] | None = None
    every_events: Count = 50_000
    every_seconds: PositiveFloat = 60.0
