"""Prequential evaluation: metrics of predictions that were made before their label was learned."""

from streamlin.evaluation.predictions import Predictions
from streamlin.evaluation.prequential import Prequential

__all__ = ["Predictions", "Prequential"]
