"""Why a text gets its label: what each of its n-grams, as far as it is known, adds to each label's score."""

from streamlin.explanation.explain import explain
from streamlin.explanation.explanation import Explanation
from streamlin.explanation.reasons import Reason, Reasons

__all__ = ["Explanation", "Reason", "Reasons", "explain"]
