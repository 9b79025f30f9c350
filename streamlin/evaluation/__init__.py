"""Test-then-train accuracy and what it is compared with."""

from streamlin.evaluation.predictions import Predictions
from streamlin.evaluation.prequential import Prequential

__all__ = ["Predictions", "Prequential"]
