"""Guests: models of river and scikit-learn in the race, one event after the other, on the same terms as ours."""

from streamlin.external_models.inputs import Inputs
from streamlin.external_models.model import Guest

__all__ = ["Guest", "Inputs"]
