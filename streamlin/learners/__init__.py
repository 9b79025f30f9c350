"""Online learners, one a file, and how a configuration names them."""

from streamlin.config import LearnerConfig
from streamlin.learners.averaged_perceptron import AveragedPerceptron
from streamlin.learners.base import Learner, Targets, best, learn_labels, no_targets, softmax, targets
from streamlin.learners.logistic_regression import LogisticRegression
from streamlin.learners.naive_bayes import NaiveBayes
from streamlin.learners.passive_aggressive import PassiveAggressive
from streamlin.learners.perceptron import Perceptron

KINDS: dict[str, type[Learner]] = {
    learner.name: learner
    for learner in (NaiveBayes, Perceptron, AveragedPerceptron, PassiveAggressive, LogisticRegression)
}


def from_config(config: LearnerConfig) -> Learner:
    """A new learner as configured."""
    return KINDS[config.kind](**config.parameters())


__all__ = [
    "AveragedPerceptron",
    "Learner",
    "LogisticRegression",
    "NaiveBayes",
    "PassiveAggressive",
    "Perceptron",
    "Targets",
    "best",
    "from_config",
    "learn_labels",
    "no_targets",
    "softmax",
    "targets",
]
