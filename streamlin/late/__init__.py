"""Labels that come later than their texts.

A text is predicted when it comes, and waits. When its label comes, the prediction that was made then is scored, and the
text is learned: as an event of its own in the stream, at the place of its label.
"""

from streamlin.late.delayed import DelayedLabels
from streamlin.late.feedback import LateLabels
from streamlin.late.plan import Plan

__all__ = ["DelayedLabels", "LateLabels", "Plan"]
