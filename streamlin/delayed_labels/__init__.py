"""Labels that come later than their texts.

A text is predicted when it comes, and waits. When its label comes, the prediction that was made then is scored, and the
text is learned: as an event of its own in the stream, at the place of its label.
"""

from streamlin.delayed_labels.by_id import LabelsById
from streamlin.delayed_labels.fixed_delay import FixedDelay
from streamlin.delayed_labels.plan import Plan

__all__ = ["FixedDelay", "LabelsById", "Plan"]
