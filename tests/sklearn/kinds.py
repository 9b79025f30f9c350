"""The names of the classes."""

from streamlin.learners import KINDS
from streamlin.tagging.kinds import KINDS as TAGGING

CLASSIFIERS = sorted(learner.__name__ for learner in KINDS.values())
TAGGERS = {tagger.__name__: kind for kind, tagger in TAGGING.items()}
"""Name -> kind."""
