"""Guests: models of river and scikit-learn in the race, one event after the other, on the same terms as ours."""

from streamlin.guests.guest import Guest
from streamlin.guests.inputs import Inputs

__all__ = ["Guest", "Inputs"]
