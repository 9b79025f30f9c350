"""Why a text gets its label, and tokens their tags: the contribution of each known feature to each score."""

from streamlin.explanation.explain import explain
from streamlin.explanation.explain_event import explain_event
from streamlin.explanation.explanation import Explanation
from streamlin.explanation.reasons import Reason, Reasons

__all__ = ["Explanation", "Reason", "Reasons", "explain", "explain_event"]
