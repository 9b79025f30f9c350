"""The table `[delayed_labels]`."""

from typing import Annotated, Literal, Self

from pydantic import Field, PositiveFloat, model_validator

from streamlin.config.base import Count, Strict


class DelayedLabelsConfig(Strict):
    """Labels that arrive later than their texts.

    enabled : a record with an id and a label but no text labels the text of that id; implied by `url`.
    url : a second source of such records; None: no second source.
    delay : replay each label only after this many further texts; 0: at once.
    store : where texts wait: in `memory`, or on `disk`, in a database beside the checkpoint.
    max_pending : maximum number of texts that wait.
    max_pending_characters : maximum size of these texts with their ids and fields; also of the labels that wait with
        their ids, and of those that are remembered.
    max_remembered : maximum number of labels that wait for their text, and of ids whose label is remembered.
    max_pending_age : maximum time that they wait in seconds, by the times of the events; None: no limit.
    unknown : `hold` a label until its text arrives, or `drop` it.
    """

    enabled: bool = False
    url: Annotated[str, Field(min_length=1)] | None = None
    delay: Annotated[int, Field(ge=0)] = 0
    store: Literal["memory", "disk"] = "memory"
    max_pending: Count = 100_000
    max_pending_characters: Count = 256_000_000
    max_remembered: Count = 100_000
    max_pending_age: PositiveFloat | None = None
    unknown: Literal["hold", "drop"] = "hold"

    @property
    def by_id(self) -> bool:
        """Whether labels arrive by id."""
        return self.enabled or self.url is not None

    @model_validator(mode="after")
    def _one_or_other(self) -> Self:
        if self.delay and self.by_id:
            raise ValueError(
                "delayed_labels.delay: only for streams that have labels with their texts; remove it, or labels by id"
            )
        return self
