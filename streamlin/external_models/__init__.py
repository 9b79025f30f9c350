"""External models: classifiers of river and scikit-learn, tested and then trained on each event like our learners."""

from streamlin.external_models.external_model import ExternalModel
from streamlin.external_models.inputs import Inputs

__all__ = ["ExternalModel", "Inputs"]
