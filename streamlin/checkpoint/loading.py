"""From a checkpoint to the model that it holds."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from streamlin.config import DelayedLabelsConfig, ExternalModelConfig, RunConfig
from streamlin.config.loading import checked
from streamlin.errors import CheckpointError
from streamlin.model import Model


def config_of(state: dict[str, Any]) -> RunConfig:
    """The configuration that a checkpoint was made under, as far as it reaches a prediction."""
    try:
        return checked(state["fingerprint"])
    except Exception as error:
        raise CheckpointError(f"the checkpoint's configuration is not this version's: {error}") from None


def refuse_pickled(config: RunConfig) -> None:
    """Raise CheckpointError if a checkpoint of this configuration holds external models: unpickling them runs code."""
    names = [learner.name for learner in config.learners if isinstance(learner, ExternalModelConfig)]
    if names:
        raise CheckpointError(
            f"the checkpoint holds pickled learners ({', '.join(names)}), and to unpickle them runs code that whoever "
            "made it has chosen; --allow-pickle (from Python allow_pickle=True) allows that, if you trust it"
        )


def model_of(
    config: RunConfig, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any], allow_pickle: bool = False
) -> Model:
    """What a checkpoint has learned; it waits for no more labels.

    allow_pickle : external models in it may be unpickled.

    Raises
    ------
    CheckpointError : they may not, or can't.
    """
    if not allow_pickle:
        refuse_pickled(config)
    model = Model(config.model_copy(update={"delayed_labels": DelayedLabelsConfig()}))
    model.restore(arrays, state)
    return model
