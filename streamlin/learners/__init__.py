"""Online learners, one a file; `builtin` lists them."""

from streamlin.learners.base import Learner as Learner
from streamlin.learners.builtin import *  # noqa: F403
from streamlin.learners.kinds import KINDS as KINDS
from streamlin.learners.kinds import from_config as from_config
from streamlin.learners.mixture import Mixture as Mixture
from streamlin.learners.scores import best as best
from streamlin.learners.scores import softmax as softmax
from streamlin.learners.targets import Targets as Targets
from streamlin.learners.targets import learn_labels as learn_labels
from streamlin.learners.targets import no_targets as no_targets
from streamlin.learners.targets import targets as targets
