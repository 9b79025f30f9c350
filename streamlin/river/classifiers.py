"""The classifiers, each documented as the learner that it is."""

from river.base import tags

from streamlin.learners import parameters
from streamlin.river.base import OnlineClassifier


class NaiveBayes(parameters.NaiveBayes, OnlineClassifier):
    __doc__ = parameters.NaiveBayes._kind.__doc__

    def _more_tags(self) -> set[str]:
        return {tags.POSITIVE_INPUT}


class Perceptron(parameters.Perceptron, OnlineClassifier):
    __doc__ = parameters.Perceptron._kind.__doc__


class AveragedPerceptron(parameters.AveragedPerceptron, OnlineClassifier):
    __doc__ = parameters.AveragedPerceptron._kind.__doc__


class PassiveAggressive(parameters.PassiveAggressive, OnlineClassifier):
    __doc__ = parameters.PassiveAggressive._kind.__doc__


class LogisticRegression(parameters.LogisticRegression, OnlineClassifier):
    __doc__ = parameters.LogisticRegression._kind.__doc__


class Hinge(parameters.Hinge, OnlineClassifier):
    __doc__ = parameters.Hinge._kind.__doc__


class StochasticGradientDescent(parameters.StochasticGradientDescent, OnlineClassifier):
    __doc__ = parameters.StochasticGradientDescent._kind.__doc__


class Arow(parameters.Arow, OnlineClassifier):
    __doc__ = parameters.Arow._kind.__doc__
