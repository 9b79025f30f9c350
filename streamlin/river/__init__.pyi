"""Made by `make generated` from the built-in learners."""

from collections.abc import Sequence
from typing import Literal

from streamlin.features import View
from streamlin.river.base import OnlineClassifier

class Arow(OnlineClassifier):
    """`streamlin.Arow` says what the parameters mean."""

    r: float
    normalize: bool
    features: View | Sequence[View] | None
    def __init__(
        self,
        r: float = 10.0,
        normalize: bool = False,
        features: View | Sequence[View] | None = None,
    ) -> None: ...

class AveragedPerceptron(OnlineClassifier):
    """`streamlin.AveragedPerceptron` says what the parameters mean."""

    half_life: float | None
    features: View | Sequence[View] | None
    def __init__(
        self,
        half_life: float | None = None,
        features: View | Sequence[View] | None = None,
    ) -> None: ...

class Hinge(OnlineClassifier):
    """`streamlin.Hinge` says what the parameters mean."""

    eta: float
    epsilon: float
    normalize: bool
    features: View | Sequence[View] | None
    def __init__(
        self,
        eta: float = 0.45,
        epsilon: float = 1e-10,
        normalize: bool = True,
        features: View | Sequence[View] | None = None,
    ) -> None: ...

class LogisticRegression(OnlineClassifier):
    """`streamlin.LogisticRegression` says what the parameters mean."""

    eta: float
    epsilon: float
    normalize: bool
    squares: Literal["weight", "feature"]
    damping: float | None
    least_error: float | None
    features: View | Sequence[View] | None
    def __init__(
        self,
        eta: float = 0.45,
        epsilon: float = 1e-10,
        normalize: bool = True,
        squares: Literal["weight", "feature"] = "weight",
        damping: float | None = None,
        least_error: float | None = None,
        features: View | Sequence[View] | None = None,
    ) -> None: ...

class NaiveBayes(OnlineClassifier):
    """`streamlin.NaiveBayes` says what the parameters mean."""

    alpha: float
    smoothing: Literal["uniform", "prior"]
    half_life: float | None
    reset: float | None
    unlabelled: Sequence[float] | None
    features: View | Sequence[View] | None
    def __init__(
        self,
        alpha: float = 0.3,
        smoothing: Literal["uniform", "prior"] = "uniform",
        half_life: float | None = None,
        reset: float | None = None,
        unlabelled: Sequence[float] | None = None,
        features: View | Sequence[View] | None = None,
    ) -> None: ...

class PassiveAggressive(OnlineClassifier):
    """`streamlin.PassiveAggressive` says what the parameters mean."""

    C: float
    variant: Literal[1, 2]
    averaged: bool
    half_life: float | None
    features: View | Sequence[View] | None
    def __init__(
        self,
        C: float = 0.1,
        variant: Literal[1, 2] = 1,
        averaged: bool = False,
        half_life: float | None = None,
        features: View | Sequence[View] | None = None,
    ) -> None: ...

class Perceptron(OnlineClassifier):
    """`streamlin.Perceptron` says what the parameters mean."""

    features: View | Sequence[View] | None
    def __init__(
        self,
        features: View | Sequence[View] | None = None,
    ) -> None: ...

class StochasticGradientDescent(OnlineClassifier):
    """`streamlin.StochasticGradientDescent` says what the parameters mean."""

    loss: Literal["perceptron", "log", "hinge"]
    rate: Literal["constant", "inverse", "inverse_sqrt", "pegasos", "bottou"]
    eta: float
    l2: float
    normalize: bool
    features: View | Sequence[View] | None
    def __init__(
        self,
        loss: Literal["perceptron", "log", "hinge"] = "log",
        rate: Literal["constant", "inverse", "inverse_sqrt", "pegasos", "bottou"] = "constant",
        eta: float = 0.5,
        l2: float = 0.0,
        normalize: bool = True,
        features: View | Sequence[View] | None = None,
    ) -> None: ...
