"""Classifiers of other libraries that wrap a learner.

river and scikit-learn copy a model by its constructor's parameters, which they look for as attributes of the same
names. So a wrapper keeps the parameters as they were given, and makes its learner from them.
"""

import inspect
import re
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, get_type_hints

from streamlin.learners.base import Learner

T = TypeVar("T")


class Wrapper:
    """The parameters of a learner or a tagger, and what is made from them."""

    _kind: ClassVar[type[Any]]

    def _parameters_are_set(self) -> None:
        """Called at the end of the constructor."""

    def _new_learner(self, **others: object) -> Learner:
        """A new learner with these parameters, except for the `others`. Raises ConfigError."""
        learner: Learner = self._made(self._kind, **others)
        return learner

    def _made(self, kind: Callable[..., T], **others: object) -> T:
        """An object made with those of these parameters that it has. Raises ConfigError."""
        own = {name: getattr(self, name) for name in inspect.signature(kind).parameters}
        return kind(**own | others)


W = TypeVar("W", bound=Wrapper)


def wrapped(learner: type, base: type[W], module: str, features: type | None = None) -> type[W]:
    """A subclass of `base` with the name, the parameters and the documentation of a learner or a tagger.

    module : the public module in which the class is found, as pickles need it.
    features : a class whose parameters are added, for a tagger, which has none of features.
    """
    signature = _signature(learner, features)

    def __init__(self: W, *args: Any, **kwargs: Any) -> None:  # noqa: N807  # becomes a method below
        try:
            given = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{learner.__name__}() {error}") from None
        given.apply_defaults()
        for name in list(given.arguments)[1:]:
            setattr(self, name, given.arguments[name])
        self._parameters_are_set()

    __init__.__signature__ = signature  # type: ignore[attr-defined]  # inspect reads it
    __init__.__qualname__ = f"{learner.__name__}.__init__"
    own = {"__init__": __init__, "__doc__": _documentation(learner, features), "__module__": module, "_kind": learner}
    return type(learner.__name__, (base,), own)


def _documentation(learner: type, features: type | None) -> str:
    """That of the learner, without its arrays: they are attributes of the learner alone."""
    own = re.sub(r"\n\n *Attributes\n.*?(?=\n\n|\Z)", "", learner.__doc__ or "", flags=re.DOTALL)
    if features is None:
        return own
    further = re.findall(r"Parameters\n *-+(\n.*?)\n\n", features.__doc__ or "", re.DOTALL)
    return re.sub(r"(?=\n\n *Raises\n)", lambda _: "".join(further), own)


def _signature(learner: type, features: type | None) -> inspect.Signature:
    """That of the learner's constructor, and its features', with plain types instead of limits."""
    parameters = _parameters(learner) + ([] if features is None else _parameters(features)[1:])
    return inspect.Signature(parameters, return_annotation=None)


def _parameters(kind: type) -> list[inspect.Parameter]:
    """Those of a constructor, `self` included."""
    init: Any = kind.__init__  # type: ignore[misc]  # of this very class
    types = get_type_hints(init)
    found = inspect.signature(init).parameters.values()
    return [parameter.replace(annotation=types.get(parameter.name, parameter.annotation)) for parameter in found]
