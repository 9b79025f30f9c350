"""Test-then-train accuracy and what it is compared with."""

from streamlin.evaluation.intervals import wilson
from streamlin.evaluation.prequential import Predictions, Prequential

__all__ = ["Predictions", "Prequential", "wilson"]
