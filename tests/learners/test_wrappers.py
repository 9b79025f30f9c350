"""Wrappers take the parameters that the learners take."""

import inspect

import pytest

from streamlin.features import View
from streamlin.learners import KINDS
from streamlin.learners.wrappers import Wrapper, wrapped

EVERY = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())


def arguments(callable_):
    """Name -> kind and default."""
    return {p.name: (p.kind, p.default) for p in inspect.signature(callable_).parameters.values()}


@EVERY
def test_a_wrapper_has_the_learners_signature(kind):
    assert arguments(wrapped(kind, Wrapper, "here")) == arguments(kind)


@EVERY
def test_a_wrapper_documents_parameters_but_no_arrays(kind):
    """Only the learner has the arrays."""
    documentation = wrapped(kind, Wrapper, "here").__doc__
    assert "    Attributes\n" in kind.__doc__
    assert "Attributes" not in documentation
    sections = [section for section in ("Parameters\n", "Raises\n") if section in kind.__doc__]
    assert all(section in documentation for section in sections)


@EVERY
def test_the_learner_gets_the_parameters(kind):
    view = View(bits=4)
    given = {
        name: {float: 0.5, int: 2, bool: False}.get(type(default), default)
        for name, (_, default) in arguments(kind).items()
    } | {"features": view}
    wrapper = wrapped(kind, Wrapper, "here")(**given)
    learner = wrapper._new_learner()
    assert type(learner) is kind
    assert learner.view is view
    assert {name: getattr(learner, name) for name in given if name != "features"} == {
        name: value for name, value in given.items() if name != "features"
    }
    assert wrapper._new_learner(features=None).view is not view


@EVERY
def test_an_unknown_parameter_is_refused_by_name(kind):
    for made in (kind, wrapped(kind, Wrapper, "here")):
        with pytest.raises(TypeError, match=f"^{kind.__name__}\\(\\) got an unexpected keyword argument 'alfa'$"):
            made(alfa=1)
