"""The interface to an external model, whatever library it comes from."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from streamlin.external_models.inputs import Inputs

Answer = Mapping[Any, Any] | Any
"""A prediction for an event: the probability of each label, or one label, or None."""


class NotAClassifierError(Exception):
    """Something else was found instead of a classifier; the text continues the name of the factory."""


class Adapter(ABC):
    """A model behind two calls, `predict` and `learn`; exceptions of the model pass through.

    Parameters
    ----------
    make : returns a new model.

    Raises
    ------
    NotAClassifierError : what `make` returns is not a classifier.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self.model = self.checked(make())

    @abstractmethod
    def checked(self, model: Any) -> Any:
        """The model, checked. Raises NotAClassifierError if it is not a classifier of this kind."""

    @abstractmethod
    def x_of(self, inputs: Inputs, i: int) -> Any:
        """Event i in the form that the model takes."""

    @abstractmethod
    def predict(self, x: Any) -> Answer:
        """The model's prediction for an event."""

    @abstractmethod
    def learn(self, x: Any, label: str, weight: float) -> str | None:
        """Train the model on an event; returns a notice for the user, or None."""

    def rest(self) -> dict[str, Any]:
        """The adapter's own state, JSON-able."""
        return {}

    def restore(self, model: Any, rest: Mapping[str, Any]) -> None:
        """Restore a model, and what `rest` returned. Raises NotAClassifierError."""
        self.model = self.checked(model)


def accepts(method: Callable[..., Any], name: str) -> bool:
    """Whether a method accepts an argument of that name."""
    try:
        parameters = inspect.signature(method).parameters
    except (TypeError, ValueError):  # compiled code without a signature
        return False
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def check_methods(model: Any, what: str, methods: Sequence[str]) -> None:
    """Raise NotAClassifierError unless a model is an object that has these methods."""
    missing = [name for name in methods if not callable(getattr(model, name, None))]
    if missing:
        raise NotAClassifierError(
            f"should return {what}, returned {described(model)}, which has no {', no '.join(missing)}"
        )
    if isinstance(model, type):
        raise NotAClassifierError(f"should return {what}, returned {described(model)}")


def described(model: Any) -> str:
    """A description of an object, for a message."""
    if isinstance(model, type):
        return f"the class {model.__module__}.{model.__qualname__}"
    kind = type(model)
    if kind.__module__ == "builtins":
        return f"{model!r:.60}, of type {kind.__qualname__}"
    return f"a {kind.__module__}.{kind.__qualname__}"
