"""The registry of built-in learners: one line each, in the order in which messages and the documentation list them.

The configuration, the classifiers for river and scikit-learn and the public names of `streamlin` are made from it.
"""
# ruff: noqa: I001  # the order is part of the registry

from streamlin.learners.naive_bayes import NaiveBayes as NaiveBayes
from streamlin.learners.perceptron import Perceptron as Perceptron
from streamlin.learners.averaged_perceptron import AveragedPerceptron as AveragedPerceptron
from streamlin.learners.passive_aggressive import PassiveAggressive as PassiveAggressive
from streamlin.learners.logistic_regression import LogisticRegression as LogisticRegression
from streamlin.learners.hinge import Hinge as Hinge
from streamlin.learners.sgd import StochasticGradientDescent as StochasticGradientDescent
from streamlin.learners.arow import Arow as Arow
