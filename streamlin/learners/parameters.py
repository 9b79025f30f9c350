"""What the learners' constructors take, for classifiers that keep it under its own names.

river and scikit-learn copy a model by its constructor's arguments, which they look for as attributes. So a class here
has the parameters of the learner of its name, and nothing else; what they mean is said there.
"""

import inspect
from dataclasses import dataclass
from typing import ClassVar

from streamlin import learners
from streamlin.features import View
from streamlin.learners.base import Learner
from streamlin.learners.logistic_regression import Squares
from streamlin.learners.naive_bayes import Smoothing
from streamlin.learners.sgd import Loss, Rate


class Parameters:
    """The parameters of a kind of learner."""

    _kind: ClassVar[type[Learner]]

    def __post_init__(self) -> None:
        """For a library that wants more to be done once the parameters are there."""

    def _new_learner(self, **others: object) -> Learner:
        """A learner of these parameters, but for the `others`. Raises ConfigError where it refuses one."""
        own = {name: getattr(self, name) for name in inspect.signature(self._kind).parameters}
        return self._kind(**own | others)


@dataclass(eq=False, repr=False)
class NaiveBayes(Parameters):
    _kind = learners.NaiveBayes
    alpha: float = 0.3
    smoothing: Smoothing = "uniform"
    half_life: float | None = None
    reset: float | None = None
    features: View | None = None


@dataclass(eq=False, repr=False)
class Perceptron(Parameters):
    _kind = learners.Perceptron
    features: View | None = None


@dataclass(eq=False, repr=False)
class AveragedPerceptron(Parameters):
    _kind = learners.AveragedPerceptron
    half_life: float | None = None
    features: View | None = None


@dataclass(eq=False, repr=False)
class PassiveAggressive(Parameters):
    _kind = learners.PassiveAggressive
    C: float = 0.1
    variant: int = 1
    features: View | None = None


@dataclass(eq=False, repr=False)
class LogisticRegression(Parameters):
    _kind = learners.LogisticRegression
    eta: float = 0.45
    epsilon: float = 1e-10
    normalize: bool = True
    squares: Squares = "weight"
    features: View | None = None


@dataclass(eq=False, repr=False)
class Hinge(Parameters):
    _kind = learners.Hinge
    eta: float = 0.45
    epsilon: float = 1e-10
    normalize: bool = True
    features: View | None = None


@dataclass(eq=False, repr=False)
class StochasticGradientDescent(Parameters):
    _kind = learners.StochasticGradientDescent
    loss: Loss = "log"
    rate: Rate = "constant"
    eta: float = 0.5
    l2: float = 0.0
    normalize: bool = True
    features: View | None = None


@dataclass(eq=False, repr=False)
class Arow(Parameters):
    _kind = learners.Arow
    r: float = 10.0
    features: View | None = None
