"""Online learners, one a file, and how a configuration names them."""

from streamlin.config import OwnConfig, PluginConfig
from streamlin.learners.arow import Arow
from streamlin.learners.averaged_perceptron import AveragedPerceptron
from streamlin.learners.base import Learner
from streamlin.learners.hinge import Hinge
from streamlin.learners.logistic_regression import LogisticRegression
from streamlin.learners.mixture import Mixture
from streamlin.learners.naive_bayes import NaiveBayes
from streamlin.learners.passive_aggressive import PassiveAggressive
from streamlin.learners.perceptron import Perceptron
from streamlin.learners.plugin import plugin_learner
from streamlin.learners.scores import best, softmax
from streamlin.learners.sgd import StochasticGradientDescent
from streamlin.learners.targets import Targets, learn_labels, no_targets, targets

KINDS: dict[str, type[Learner]] = {
    learner.name: learner
    for learner in (
        NaiveBayes,
        Perceptron,
        AveragedPerceptron,
        PassiveAggressive,
        LogisticRegression,
        Hinge,
        StochasticGradientDescent,
        Arow,
    )
}


def from_config(config: OwnConfig | PluginConfig) -> Learner:
    """A new learner as configured, of ours or of another package. Raises ConfigError."""
    if isinstance(config, PluginConfig):
        return plugin_learner(config)
    return KINDS[config.kind](**config.parameters())


__all__ = [
    "Arow",
    "AveragedPerceptron",
    "Hinge",
    "Learner",
    "LogisticRegression",
    "Mixture",
    "NaiveBayes",
    "PassiveAggressive",
    "Perceptron",
    "StochasticGradientDescent",
    "Targets",
    "best",
    "from_config",
    "learn_labels",
    "no_targets",
    "softmax",
    "targets",
]
