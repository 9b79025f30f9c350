"""From a checkpoint to the model in it."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from streamlin.checkpoint.models import new_model
from streamlin.config import DelayedLabelsConfig, ExternalModelConfig, RunConfig
from streamlin.config.loading import checked
from streamlin.errors import CheckpointError
from streamlin.model import Model


def config_of(state: dict[str, Any]) -> RunConfig:
    """The configuration that a checkpoint was made with, as far as it affects predictions. Raises CheckpointError."""
    try:
        return checked(state["fingerprint"])
    except Exception as error:
        raise CheckpointError(f"the checkpoint's configuration does not fit this version: {error}") from None


def refuse_pickled(config: RunConfig) -> None:
    """Raise CheckpointError if a checkpoint of this configuration holds external models: unpickling them runs code."""
    names = [learner.name for learner in config.learners if isinstance(learner, ExternalModelConfig)]
    if names:
        raise CheckpointError(
            f"the checkpoint holds pickled learners ({', '.join(names)}), and unpickling runs any code that is in it; "
            "if you trust its origin, --allow-pickle (in Python allow_pickle=True) allows that"
        )


def model_of(
    config: RunConfig, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any], allow_pickle: bool = False
) -> Model:
    """The model of a checkpoint, without the texts that wait for labels.

    allow_pickle : external models in it may be unpickled.

    Raises
    ------
    CheckpointError : external models may not, or can't, be unpickled.
    """
    if not allow_pickle:
        refuse_pickled(config)
    model = new_model(config.model_copy(update={"delayed_labels": DelayedLabelsConfig()}))
    model.restore(arrays, state)
    return model
