"""Classifiers of other libraries that wrap a learner.

river and scikit-learn copy a model by its constructor's parameters, which they look for as attributes of the same
names. So a wrapper keeps the parameters as they were given, and makes its learner from them.
"""

import inspect
import re
from typing import Any, ClassVar, TypeVar, get_type_hints

from streamlin.learners.base import Learner


class Wrapper:
    """The parameters of a learner, and the learner made from them."""

    _kind: ClassVar[type[Learner]]

    def _parameters_are_set(self) -> None:
        """Called at the end of the constructor."""

    def _new_learner(self, **others: object) -> Learner:
        """A new learner with these parameters, except for the `others`. Raises ConfigError."""
        own = {name: getattr(self, name) for name in inspect.signature(self._kind).parameters}
        return self._kind(**own | others)


W = TypeVar("W", bound=Wrapper)


def wrapped(learner: type[Learner], base: type[W], module: str) -> type[W]:
    """A subclass of `base` with the name, the parameters and the documentation of a learner.

    module : the public module in which the class is found, as pickles need it.
    """
    signature = _signature(learner)

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
    own = {"__init__": __init__, "__doc__": _documentation(learner), "__module__": module, "_kind": learner}
    return type(learner.__name__, (base,), own)


def _documentation(learner: type[Learner]) -> str:
    """That of the learner, without its arrays: they are attributes of the learner alone."""
    return re.sub(r"\n\n *Attributes\n.*?(?=\n\n|\Z)", "", learner.__doc__ or "", flags=re.DOTALL)


def _signature(learner: type[Learner]) -> inspect.Signature:
    """That of the learner's constructor, with plain types instead of limits."""
    types = get_type_hints(learner.__init__)
    of_init = inspect.signature(learner.__init__)
    return of_init.replace(
        parameters=[p.replace(annotation=types.get(p.name, p.annotation)) for p in of_init.parameters.values()]
    )
