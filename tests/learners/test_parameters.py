"""What river's and scikit-learn's classifiers take is what the learners take."""

import inspect

import pytest

from streamlin.features import View
from streamlin.learners import KINDS, parameters

EVERY = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())


def arguments(callable_):
    """Name -> kind and default."""
    return {p.name: (p.kind, p.default) for p in inspect.signature(callable_).parameters.values()}


@EVERY
def test_names_and_defaults_are_the_learners_own(kind):
    assert arguments(getattr(parameters, kind.__name__)) == arguments(kind)


@EVERY
def test_the_learner_gets_them(kind):
    view = View(bits=4)
    given = {
        name: {float: 0.5, int: 2, bool: False}.get(type(default), default)
        for name, (_, default) in arguments(kind).items()
    } | {"features": view}
    own = getattr(parameters, kind.__name__)(**given)
    learner = own._new_learner()
    assert type(learner) is kind
    assert learner.view is view
    assert {name: getattr(learner, name) for name in given if name != "features"} == {
        name: value for name, value in given.items() if name != "features"
    }
    assert own._new_learner(features=None).view is not view
