"""streamlin's learners as classifiers of river: `from streamlin.river import NaiveBayes`.

Each takes a text or a mapping of feature to value, alone or at the end of a `compose.Pipeline`. There is one for each
built-in learner, with its parameters; `__init__.pyi` tells type checkers their signatures.
"""

from streamlin.errors import missing

try:
    from streamlin.river.base import OnlineClassifier
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(missing(__name__, "river", error), name=error.name) from None

from streamlin.learners import KINDS
from streamlin.learners.wrappers import wrapped

_CLASSIFIERS = {learner.__name__: wrapped(learner, OnlineClassifier, __name__) for learner in KINDS.values()}
globals().update(_CLASSIFIERS)

__all__ = sorted(_CLASSIFIERS)
