"""External models: classifiers of river and scikit-learn, tested then trained event by event as our learners are."""

from streamlin.external_models.external_model import ExternalModel
from streamlin.external_models.inputs import Inputs

__all__ = ["ExternalModel", "Inputs"]
