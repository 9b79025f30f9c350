"""From a checkpoint to the model in it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from streamlin.checkpoint.expected import expected_arrays
from streamlin.checkpoint.file import load
from streamlin.checkpoint.models import new_model
from streamlin.config import DelayedLabelsConfig, ExternalModelConfig, RunConfig
from streamlin.config.loading import checked
from streamlin.errors import CheckpointError
from streamlin.model import Model
from streamlin.storage.arrays import Expected, Layout


class LoadedModel(NamedTuple):
    """A model, the configuration and the state of its checkpoint, and how many bytes its arrays have."""

    model: Model
    config: RunConfig
    state: dict[str, Any]
    size: int


def config_of(state: Mapping[str, Any]) -> RunConfig:
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
            "if you trust its origin, --allow-pickle (in Python allow_pickle=True) allows that; "
            "--without-external-models (external_models=False) uses the other learners alone"
        )


def load_model(
    folder: str | Path, previous: bool = False, allow_pickle: bool = False, external_models: bool = True
) -> LoadedModel:
    """The model of a checkpoint, without the texts that wait for labels.

    allow_pickle : external models in it may be unpickled.
    external_models : False: do without them; they are retired.

    Raises
    ------
    CheckpointError : it can't be used; or external models may not, or can't, be unpickled.
    """

    def make(config: RunConfig) -> Model:
        return new_model(_for_predictions(config))

    return load_into(make, folder, previous, allow_pickle, external_models)


def load_into(
    make: Callable[[RunConfig], Model],
    folder: str | Path,
    previous: bool = False,
    allow_pickle: bool = False,
    external_models: bool = True,
) -> LoadedModel:
    """`load_model` into the model that `make` returns for the checkpoint's configuration."""
    made: list[tuple[Model, RunConfig]] = []

    def expect(layout: Mapping[str, Layout], state: Mapping[str, Any]) -> Mapping[str, Expected]:
        config = config_of(state)
        if not external_models:
            left_out = config.checkpoint.model_copy(update={"external_models": "leave_out"})
            config = config.model_copy(update={"checkpoint": left_out})
        elif not allow_pickle:
            refuse_pickled(config)
        made.append((make(config), config))
        return expected_arrays(made[0][0], layout, state)

    arrays, state = load(folder, previous, expect)
    model, config = made[0]
    model.restore(arrays, state)
    return LoadedModel(model, config, state, sum(array.nbytes for array in arrays.values()))


def _for_predictions(config: RunConfig) -> RunConfig:
    """Nothing waits; and everything that is measured of an event is on its line, since nobody is asked."""
    pipeline = config.pipeline.model_copy(update={"novelty": config.evaluation.novelty})
    return config.model_copy(update={"delayed_labels": DelayedLabelsConfig(), "pipeline": pipeline})
