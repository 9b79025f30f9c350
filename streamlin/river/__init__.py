"""streamlin's learners as classifiers of river: `from streamlin.river import NaiveBayes`.

Each takes a text or a mapping of feature to value, alone or at the end of a `compose.Pipeline`.
"""

from streamlin.errors import missing

try:
    from streamlin.river.classifiers import (
        Arow,
        AveragedPerceptron,
        Hinge,
        LogisticRegression,
        NaiveBayes,
        PassiveAggressive,
        Perceptron,
        StochasticGradientDescent,
    )
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(missing(__name__, "river", error), name=error.name) from None

__all__ = [
    "Arow",
    "AveragedPerceptron",
    "Hinge",
    "LogisticRegression",
    "NaiveBayes",
    "PassiveAggressive",
    "Perceptron",
    "StochasticGradientDescent",
]
