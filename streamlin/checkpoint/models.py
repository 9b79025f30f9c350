"""The model that a configuration asks for: of texts or of sentences."""

from typing import cast

from streamlin.config import RunConfig
from streamlin.model import Model


def new_model(config: RunConfig) -> Model:
    """An empty model; a tagging model has the same interface."""
    if config.task == "classification":
        return Model(config)
    from streamlin.tagging.model import TaggingModel

    return cast(Model, TaggingModel(config))
