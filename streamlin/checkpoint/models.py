"""The model that a configuration asks for: of texts, of sentences, of trees or of topics."""

from typing import cast

from streamlin.config import RunConfig
from streamlin.model import Model
from streamlin.sharding.model import ShardedModel


def new_model(config: RunConfig) -> Model:
    """An empty model; those of other tasks have the same interface."""
    if config.task == "classification":
        return Model(config) if config.mixing.shards is None else ShardedModel(config)
    if config.task == "parsing":
        from streamlin.parsing.model import ParsingModel

        return cast(Model, ParsingModel(config))
    if config.task == "topics":
        from streamlin.topics.model import TopicModel

        return cast(Model, TopicModel(config))
    from streamlin.tagging.model import TaggingModel

    return cast(Model, TaggingModel(config))
