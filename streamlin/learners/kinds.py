"""The built-in learners by kind, and new learners as configured."""

from streamlin.config import BuiltInConfig, PluginConfig
from streamlin.learners import builtin
from streamlin.learners.base import Learner
from streamlin.learners.plugin import plugin_learner


def _listed(names: dict[str, object]) -> dict[str, type[Learner]]:
    """The learners among a module's names, by kind."""
    classes = [value for value in names.values() if isinstance(value, type)]
    return {learner.name: learner for learner in classes if issubclass(learner, Learner)}


KINDS = _listed(vars(builtin))
"""Kind, as a configuration names it -> class, in the order of the registry."""


def from_config(config: BuiltInConfig | PluginConfig) -> Learner:
    """A new learner as configured, built-in or from another package. Raises ConfigError."""
    learner = plugin_learner(config) if isinstance(config, PluginConfig) else KINDS[config.kind](**config.parameters())
    learner.n_views = len(config.views)
    return learner
