"""The table `[delayed_labels]`."""

from typing import Annotated, Literal, Self

from pydantic import Field, PositiveFloat, model_validator

from streamlin.config.base import Count, Strict


class DelayedLabelsConfig(Strict):
    """Labels that come later than their texts.

    enabled : a record with an id and a label but no text labels the text of that id; true where there is a url.
    url : a second source, which brings such records too; None: there is none.
    delay : each label comes only after so many more texts; for replays, 0: at once.
    store : where texts wait: `memory`, or on `disk`, in a database beside the checkpoint.
    max_pending : texts that wait for a label. max_pending_characters : of theirs.
    max_remembered : labels that wait for their text, and ids of which the label is known.
    max_pending_age : seconds that they wait, by the times that events bring; None: for ever.
    unknown : what becomes of a label whose text has not come: `hold` it until then, or `drop` it.
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
        """Whether labels come by id."""
        return self.enabled or self.url is not None

    @model_validator(mode="after")
    def _one_or_other(self) -> Self:
        if self.delay and self.by_id:
            raise ValueError(
                "delayed_labels.delay: labels come later by themselves; it is for streams that bring them at once"
            )
        return self
