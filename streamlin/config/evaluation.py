"""The table `[evaluation]`."""

from math import comb
from typing import Annotated, Literal, Self

from pydantic import Field, PositiveFloat, field_validator, model_validator

from streamlin.config.base import Count, Names, Strict

BASELINES = ("majority", "no_change")


class EvaluationConfig(Strict):
    """Which metrics are computed, and over which spans.

    window : labelled events.
    fading : α, the factor by which the weight of earlier labelled events shrinks at each labelled event.
    lead : the learner whose predictions are given out; None: the best one so far.
    slice_by : fields; accuracy is computed for each of their values, too.
    references : fields that hold the predictions of another system, which is evaluated beside the baselines.
    confusion_labels, slice_values : labels, and values of a field, that are counted separately; the rest count as one.
    metrics : "accuracy" computes only accuracy and the losses of probabilities.
    novelty : count the tokens that no event before had, and watch their share.
    novelty_threshold : the cumulative sum that is an alarm.
    drift : the detector that watches each learner's errors for a change; the keys below are its parameters.
    """

    window: Count = 1000
    fading: Annotated[float, Field(gt=0, lt=1)] = 0.999
    lead: str | None = None
    slice_by: Names = ()
    references: Names = ()
    confusion_labels: Count = 200
    slice_values: Count = 1000
    metrics: Literal["all", "accuracy"] = "all"
    novelty: bool = False
    novelty_threshold: PositiveFloat = 14.0
    drift: Literal["adwin", "page_hinkley", "ddm", "kswin", "none"] = "adwin"
    adwin_delta: Annotated[float, Field(gt=0, lt=1)] = 0.002
    page_hinkley_delta: Annotated[float, Field(ge=0)] = 0.005
    page_hinkley_threshold: PositiveFloat = 50.0
    ddm_threshold: Annotated[float, Field(ge=2)] = 3.0
    kswin_alpha: Annotated[float, Field(gt=0, lt=1)] = 0.005
    kswin_window: Annotated[Count, Field(ge=30, le=10_000)] = 100
    kswin_stat_size: Count = 30

    @field_validator("references")
    @classmethod
    def _names_free(cls, references: tuple[str, ...]) -> tuple[str, ...]:
        for name in references:
            if name in BASELINES:
                raise ValueError(f"'{name}' is the name of a baseline; give the reference another name")
        return references

    @model_validator(mode="after")
    def _kswin_can_alarm(self) -> Self:
        if self.kswin_stat_size >= self.kswin_window:
            raise ValueError(
                f"evaluation.kswin_stat_size: must be below kswin_window = {self.kswin_window}, "
                f"got {self.kswin_stat_size}"
            )
        surest = 2 / comb(self.kswin_window, self.kswin_stat_size)
        if surest > self.kswin_alpha:
            raise ValueError(
                f"evaluation.kswin_alpha: must be at least {surest:.2g}, the least p of {self.kswin_stat_size} of "
                f"{self.kswin_window} events, got {self.kswin_alpha:g}"
            )
        return self
