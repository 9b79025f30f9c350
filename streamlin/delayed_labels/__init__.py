"""Labels that arrive later than their texts.

A text is predicted when it arrives, and then waits. When its label arrives, the prediction made before is scored, and
the text is learned: as an event of its own, at the place of its label in the stream.
"""

from streamlin.delayed_labels.by_id import LabelsById
from streamlin.delayed_labels.fixed_delay import FixedDelay
from streamlin.delayed_labels.form import Form
from streamlin.delayed_labels.opening import open_delayed_labels
from streamlin.delayed_labels.plan import Plan

__all__ = ["FixedDelay", "Form", "LabelsById", "Plan", "open_delayed_labels"]
