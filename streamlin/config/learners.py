"""The tables `[[learners]]` of our own learners, but for the mixture."""

from typing import Annotated, Literal, Self

from pydantic import Field, NonNegativeFloat, PositiveFloat, model_validator

from streamlin.config.named import LearnerOfView


class NaiveBayesConfig(LearnerOfView):
    kind: Literal["naive_bayes"]
    alpha: PositiveFloat = 0.3
    smoothing: Literal["uniform", "prior"] = "uniform"
    half_life: PositiveFloat | None = None
    reset: Annotated[float, Field(gt=0, lt=1)] | None = None


class PerceptronConfig(LearnerOfView):
    kind: Literal["perceptron"]


class AveragedPerceptronConfig(LearnerOfView):
    kind: Literal["averaged_perceptron"]
    half_life: PositiveFloat | None = None


class PassiveAggressiveConfig(LearnerOfView):
    kind: Literal["passive_aggressive"]
    C: PositiveFloat = 0.1
    variant: Literal[1, 2] = 1


class LogisticRegressionConfig(LearnerOfView):
    kind: Literal["logistic_regression"]
    eta: PositiveFloat = 0.45
    epsilon: PositiveFloat = 1e-10
    normalize: bool = True
    squares: Literal["weight", "feature"] = "weight"


class HingeConfig(LearnerOfView):
    kind: Literal["hinge"]
    eta: PositiveFloat = 0.45
    epsilon: PositiveFloat = 1e-10
    normalize: bool = True


class SGDConfig(LearnerOfView):
    kind: Literal["sgd"]
    loss: Literal["perceptron", "log", "hinge"] = "log"
    rate: Literal["constant", "inverse", "inverse_sqrt", "pegasos"] = "constant"
    eta: PositiveFloat = 0.5
    l2: NonNegativeFloat = 0.0
    normalize: bool = True

    @model_validator(mode="after")
    def _l2_fits(self) -> Self:
        if self.rate == "pegasos" and self.l2 == 0:
            raise ValueError("l2: pegasos needs it above 0")
        if self.rate != "pegasos" and self.eta * self.l2 > 1:
            raise ValueError(f"l2: at most 1 / eta = {1 / self.eta:g}")
        return self


class ArowConfig(LearnerOfView):
    kind: Literal["arow"]
    r: PositiveFloat = 10.0


OwnConfig = (
    NaiveBayesConfig
    | PerceptronConfig
    | AveragedPerceptronConfig
    | PassiveAggressiveConfig
    | LogisticRegressionConfig
    | HingeConfig
    | SGDConfig
    | ArowConfig
)
"""In this order; the first five run unless others are named."""
