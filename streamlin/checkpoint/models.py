"""The model that a configuration asks for: of texts or of sentences."""

from typing import TYPE_CHECKING, Any, cast

from streamlin.config import RunConfig
from streamlin.model import Model

if TYPE_CHECKING:
    from streamlin.streams.prediction_lines import PredictionLines


def new_model(config: RunConfig) -> Model:
    """An empty model; a tagging model has the same interface."""
    if config.task == "classification":
        return Model(config)
    from streamlin.tagging.model import TaggingModel

    return cast(Model, TaggingModel(config))


def lines_of(model: Any, config: RunConfig) -> "PredictionLines":
    """What makes the lines of a model's predictions."""
    if config.task == "classification":
        from streamlin.streams.prediction_lines import PredictionLines

        return PredictionLines(model.names, model.labels)
    from streamlin.tagging.lines import TagLines

    return cast("PredictionLines", TagLines(model.names, model.labels))
