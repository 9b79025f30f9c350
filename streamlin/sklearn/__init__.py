"""streamlin's learners as classifiers of scikit-learn: `from streamlin.sklearn import NaiveBayes`.

Each takes texts, or a matrix of numbers, alone or at the end of a `Pipeline`.
"""

from streamlin.errors import missing

try:
    from streamlin.sklearn.classifiers import (
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
    raise ModuleNotFoundError(missing(__name__, "sklearn", error), name=error.name) from None

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
