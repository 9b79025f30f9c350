"""The JSON part of a checkpoint, as types that it is checked against before anything is taken from it."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, Required, TypedDict

import msgspec

from streamlin.errors import CheckpointError

_LARGEST = (1 << 63) - 1
Count = Annotated[int, msgspec.Meta(ge=0, le=_LARGEST)]
Label = Annotated[str, msgspec.Meta(min_length=1)]


class _Position(TypedDict):
    offset: Required[Count]


class _Alarm(TypedDict):
    learner: str
    labelled: Count
    position: str | None
    before: float | None
    after: float | None


class _Drift(TypedDict):
    alarms: Count
    falls: Count
    last_alarms: list[_Alarm]


class _NewWordsAlarm(TypedDict):
    event: Count
    position: str
    before: float
    after: float


class _Novelty(TypedDict):
    alarms: Count
    last_alarms: list[_NewWordsAlarm]


class _Evaluation(TypedDict):
    events: Count
    labelled: Count
    dead_letters: Count
    tombstones: Count
    lost: Count
    dead_letters_by_kind: NotRequired[dict[str, Count]]
    slices: dict[str, list[str]]
    too_long: NotRequired[Count]
    drift: _Drift
    novelty: NotRequired[_Novelty]


class _Retired(TypedDict):
    position: str
    error: str


class _ExternalModel(TypedDict):
    retired: _Retired | None
    library: NotRequired[str]
    version: NotRequired[str]


class _OnDisk(TypedDict):
    clock: Count
    before: Count


class _DelayedLabels(TypedDict):
    number: Count
    joined: NotRequired[Count]
    clock: NotRequired[Count]
    counts: NotRequired[dict[str, Count]]
    on_disk: NotRequired[_OnDisk]


class _Rounds(TypedDict):
    number: Count
    records: Count
    shards: Count
    last: Count
    parts: dict[str, list[str]]


class _State(TypedDict):
    fingerprint: dict[str, Any]
    number: Count
    positions: dict[str, dict[str, _Position]]
    sinks: dict[str, Count | None]
    labels: list[Label]
    evaluation: _Evaluation
    symbols: NotRequired[dict[str, list[Label]]]
    external_models: NotRequired[dict[str, _ExternalModel]]
    delayed_labels: NotRequired[_DelayedLabels]
    rounds: NotRequired[_Rounds]


def check_state(state: Mapping[str, Any]) -> None:
    """Raise CheckpointError unless this is the JSON of a checkpoint."""
    try:
        msgspec.convert(state, _State)
    except (msgspec.ValidationError, RecursionError) as error:
        raise CheckpointError(f"the checkpoint's state is not as expected: {error}") from None
    labels = state["labels"]
    if len(set(labels)) < len(labels):
        raise CheckpointError("the checkpoint has a label twice")
