"""The classifiers, each documented as the learner that it is."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.learners import parameters
from streamlin.sklearn.base import OnlineClassifier


class NaiveBayes(parameters.NaiveBayes, OnlineClassifier):
    __doc__ = parameters.NaiveBayes._kind.__doc__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # on what are no counts, as scikit-learn's own
        return tags

    def _check_values(self, values: NDArray[np.float32]) -> None:
        if values.min(initial=0) < 0:
            raise ValueError(f"Negative values in data passed to {type(self).__name__} (input X)")


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
