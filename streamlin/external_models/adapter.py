"""What an external model is to us, whatever library it comes from."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from streamlin.external_models.inputs import Inputs

Answer = Mapping[Any, Any] | Any
"""What is said of an event: the probability of each label, or one label, or None."""


class NoClassifierError(Exception):
    """What was found instead of a classifier."""


class Adapter(ABC):
    """A model behind two calls, `predict` and `learn`; what it raises is its own.

    Parameters
    ----------
    make : gives a new model.

    Raises
    ------
    NoClassifierError : that is no classifier.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self.model = self.checked(make())

    @abstractmethod
    def checked(self, model: Any) -> Any:
        """The model. Raises NoClassifierError if it is none of this kind."""

    @abstractmethod
    def x_of(self, inputs: Inputs, i: int) -> Any:
        """Event i as the model takes it."""

    @abstractmethod
    def predict(self, x: Any) -> Answer:
        """What the model says of an event."""

    @abstractmethod
    def learn(self, x: Any, label: str, weight: float) -> str | None:
        """Show the model an event's label; what is to be told of that, if anything."""

    def rest(self) -> dict[str, Any]:
        """What belongs to the model but is not in it; JSON-able."""
        return {}

    def restore(self, model: Any, rest: Mapping[str, Any]) -> None:
        """Take a model, and what `rest` gave. Raises NoClassifierError."""
        self.model = self.checked(model)


def takes(method: Callable[..., Any], name: str) -> bool:
    """Whether a method may be given an argument of that name."""
    try:
        parameters = inspect.signature(method).parameters
    except (TypeError, ValueError):  # compiled, and does not say
        return False
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def check_methods(model: Any, what: str, methods: Sequence[str]) -> None:
    """Raise NoClassifierError unless a model is an object that has these methods."""
    missing = [name for name in methods if not callable(getattr(model, name, None))]
    if missing:
        raise NoClassifierError(f"needs to give {what}, gave {described(model)}, which has no {', no '.join(missing)}")
    if isinstance(model, type):
        raise NoClassifierError(f"needs to give {what}, gave {described(model)}")


def described(model: Any) -> str:
    """What something is, for a message."""
    if isinstance(model, type):
        return f"the class {model.__module__}.{model.__qualname__}"
    kind = type(model)
    if kind.__module__ == "builtins":
        return f"{model!r:.60}, of type {kind.__qualname__}"
    return f"a {kind.__module__}.{kind.__qualname__}"
