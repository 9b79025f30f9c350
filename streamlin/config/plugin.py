"""The tables `[[learners]]` of learners that other packages provide."""

import inspect
from typing import Self

from pydantic import ConfigDict, model_validator

from streamlin.config.named import LearnerOfViews
from streamlin.errors import nearest
from streamlin.registry import learner_class


class PluginConfig(LearnerOfViews):
    """A learner that another package provides; its own keys are its constructor's arguments."""

    model_config = ConfigDict(extra="allow")

    kind: str

    @model_validator(mode="after")
    def _keys_fit(self) -> Self:
        arguments = inspect.signature(learner_class(self.kind)).parameters.values()
        known = [argument.name for argument in arguments if argument.name != "features"]
        if all(argument.kind != argument.VAR_KEYWORD for argument in arguments):
            for key in self.model_extra or {}:
                if key not in known:
                    raise ValueError(f"learners.{self.name}.{key}: unknown key; {nearest(key, known)}")
        return self
