"""Learners that other packages provide, by entry point `streamlin.learners`."""

from streamlin.config import PluginConfig
from streamlin.errors import ConfigError
from streamlin.learners.base import Learner
from streamlin.registry import learner_class


def plugin_learner(config: PluginConfig) -> Learner:
    """A new learner as configured.

    Raises
    ------
    ConfigError : the entry point gives no learner's class, or the class takes no such arguments.
    """
    cls = learner_class(config.kind)
    if not issubclass(cls, Learner):
        raise ConfigError(f"learners.{config.name}: '{config.kind}' is {cls!r:.80}; it needs to be a streamlin.Learner")
    try:
        return cls(**config.parameters())
    except ConfigError:
        raise
    except Exception as error:  # whatever a foreign constructor raises
        raise ConfigError(f"learners.{config.name}: {config.kind} can't be made: {error}") from None
