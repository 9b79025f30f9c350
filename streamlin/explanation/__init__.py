"""Why a text gets its label: the contribution of each known n-gram to each label's score."""

from streamlin.explanation.explain import explain
from streamlin.explanation.explanation import Explanation
from streamlin.explanation.reasons import Reason, Reasons

__all__ = ["Explanation", "Reason", "Reasons", "explain"]
