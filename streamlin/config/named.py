"""The keys that the table of every learner has."""

from typing import Any

from pydantic import model_validator

from streamlin.config.base import Strict


class NamedLearner(Strict):
    """A learner with a name, by default its kind."""

    name: str = ""

    @model_validator(mode="before")
    @classmethod
    def _name_is_kind(cls, data: Any) -> Any:
        if isinstance(data, dict) and not data.get("name"):
            return data | {"name": data.get("kind", "")}
        return data

    def parameters(self) -> dict[str, Any]:
        """The learner's own keys, which are the arguments of its constructor."""
        return self.model_dump(exclude={"kind", "name", "features"})


class LearnerOfView(NamedLearner):
    """A learner that reads a view. features : the name of the view."""

    features: str = "words"
