"""The table `[checkpoint]`."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PositiveFloat

from streamlin.config.base import Count, Strict


def _digits(value: Any) -> Any:
    """640, as a command line or a file may have it, as a text; any other value unchanged."""
    return str(value) if type(value) is int else value


class CheckpointConfig(Strict):
    """Where and how often a run is saved.

    path : a folder; None: the run is not saved.
    permissions : of the files in the folder, as `chmod` takes them; who may read may also enter a folder that is made.
    external_models : `leave_out` uses the other learners of a checkpoint alone: nothing is unpickled for the
        external models, which are retired.
    every_events, every_seconds : save after this many events, or after this many seconds if there is anything new.
    """

    path: Annotated[str, Field(min_length=1)] | None = None
    permissions: Annotated[str, BeforeValidator(_digits), Field(pattern="^0?6[046][046]$")] = "600"
    external_models: Literal["restore", "leave_out"] = "restore"
    every_events: Count = 50_000
    every_seconds: PositiveFloat = 60.0

    @property
    def mode(self) -> int:
        """The permissions as a number."""
        return int(self.permissions, 8)
