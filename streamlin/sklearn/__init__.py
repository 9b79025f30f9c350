"""streamlin's learners and taggers in the manner of scikit-learn: `from streamlin.sklearn import NaiveBayes, CRF`.

A learner is a classifier that takes texts, or a matrix of numbers, alone or at the end of a `Pipeline`; a tagger takes
sentences. There is a class for each built-in learner and tagger, with its parameters; `__init__.pyi` tells type
checkers their signatures.
"""

from streamlin.errors import missing

try:
    from streamlin.sklearn.base import OnlineClassifier
    from streamlin.sklearn.tagger import OnlineTagger
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(missing(__name__, "sklearn", error), name=error.name) from None

from streamlin.learners import KINDS
from streamlin.learners.wrappers import wrapped
from streamlin.tagging.kinds import KINDS as TAGGERS
from streamlin.tagging.token_features import TokenFeatures

_CLASSIFIERS = {learner.__name__: wrapped(learner, OnlineClassifier, __name__) for learner in KINDS.values()}
_TAGGERS = {tagger.__name__: wrapped(tagger, OnlineTagger, __name__, TokenFeatures) for tagger in TAGGERS.values()}
globals().update(_CLASSIFIERS | _TAGGERS)

__all__ = sorted([*_CLASSIFIERS, *_TAGGERS])
