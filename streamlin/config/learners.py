"""The tables `[[learners]]` of built-in learners, made from the learners themselves."""

import inspect
from functools import cache
from typing import Any, Literal, Self, get_type_hints

from pydantic import create_model, model_validator

from streamlin.config.named import LearnerOfView
from streamlin.errors import ConfigError
from streamlin.registry import built_in_learners


class BuiltInConfig(LearnerOfView):
    """A built-in learner; its own keys are its constructor's parameters, within the limits declared there."""

    kind: str

    @model_validator(mode="after")
    def _constructor_agrees(self) -> Self:
        """A constructor may check more than each parameter by itself."""
        try:
            built_in_learners()[self.kind](**self.parameters())
        except ConfigError as error:
            raise ValueError(f"learners.{self.name}: {error}") from None
        return self


@cache
def model_of(learner: type, kind: str) -> type[BuiltInConfig]:
    """The model of a learner's table: a key for each parameter of its constructor, of its type, limits and default."""
    types = get_type_hints(learner.__init__, include_extras=True)  # type: ignore[misc]  # of this very class
    keys: dict[str, Any] = {"kind": (Literal[kind], ...)}
    keys |= {
        parameter.name: (types[parameter.name], parameter.default)
        for parameter in inspect.signature(learner).parameters.values()
        if parameter.name != "features"
    }
    return create_model(f"{learner.__name__}Config", __base__=BuiltInConfig, __doc__=learner.__doc__, **keys)
