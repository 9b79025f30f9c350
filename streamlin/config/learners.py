"""The tables `[[learners]]` of built-in learners, taggers, parsers and clusterers, made from these themselves."""

import inspect
from functools import cache
from typing import Any, Literal, Self, get_type_hints

from pydantic import create_model, model_validator

from streamlin.config.named import LearnerOfView, LearnerOfViews, NamedLearner
from streamlin.errors import ConfigError
from streamlin.registry import built_in_clusterers, built_in_learners, built_in_parsers, built_in_taggers


class BuiltInConfig(LearnerOfViews):
    """A built-in learner; its own keys are its constructor's parameters, within the limits declared there."""

    kind: str

    @model_validator(mode="after")
    def _constructor_agrees(self) -> Self:
        """A constructor may check more than each parameter by itself."""
        _check_constructor(built_in_learners()[self.kind], self)
        return self


class TaggerConfig(NamedLearner):
    """A built-in tagger, likewise."""

    kind: str

    @model_validator(mode="after")
    def _constructor_agrees(self) -> Self:
        _check_constructor(built_in_taggers()[self.kind], self)
        return self


class ParserConfig(NamedLearner):
    """A built-in parser, likewise."""

    kind: str

    @model_validator(mode="after")
    def _constructor_agrees(self) -> Self:
        _check_constructor(built_in_parsers()[self.kind], self)
        return self


class ClustererConfig(LearnerOfView):
    """A built-in clusterer, likewise."""

    kind: str

    @model_validator(mode="after")
    def _constructor_agrees(self) -> Self:
        _check_constructor(built_in_clusterers()[self.kind], self)
        return self


def _check_constructor(learner: type, table: NamedLearner) -> None:
    try:
        learner(**table.parameters())
    except ConfigError as error:
        raise ValueError(f"learners.{table.name}: {error}") from None


@cache
def model_of(learner: type, kind: str, base: type[NamedLearner] = BuiltInConfig) -> type[NamedLearner]:
    """The model of a learner's table: a key for each parameter of its constructor, of its type, limits and default."""
    types = get_type_hints(learner.__init__, include_extras=True)  # type: ignore[misc]  # of this very class
    keys: dict[str, Any] = {"kind": (Literal[kind], ...)}
    keys |= {
        parameter.name: (types[parameter.name], parameter.default)
        for parameter in inspect.signature(learner).parameters.values()
        if parameter.name != "features"
    }
    return create_model(f"{learner.__name__}Config", __base__=base, __doc__=learner.__doc__, **keys)
