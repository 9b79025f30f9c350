"""Learners that other packages provide as entry points of the group `streamlin.learners`."""

from streamlin.config import PluginConfig
from streamlin.errors import ConfigError
from streamlin.learners.base import Learner
from streamlin.registry import learner_class


def plugin_learner(config: PluginConfig) -> Learner:
    """A new learner as configured.

    Raises
    ------
    ConfigError : the entry point is not a subclass of `Learner`, or its constructor fails.
    """
    cls = learner_class(config.kind)
    if not issubclass(cls, Learner):
        found = f"learners.{config.name}: '{config.kind}' is {cls!r:.80}"
        raise ConfigError(f"{found}, expected a subclass of streamlin.Learner")
    try:
        return cls(**config.parameters())
    except ConfigError:
        raise
    except Exception as error:  # a plugin's constructor may raise anything
        raise ConfigError(f"learners.{config.name}: {config.kind} can't be created: {error}") from None
