"""The keys that the table of every learner has."""

from typing import Annotated, Any

from pydantic import AfterValidator, model_validator

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


def _different(views: str | tuple[str, ...]) -> str | tuple[str, ...]:
    """The views, each once; the name alone where there is one."""
    if isinstance(views, str):
        return views
    if not views or len(set(views)) < len(views):
        raise ValueError("expected at least one view, each once")
    return views if len(views) > 1 else views[0]


class LearnerOfViews(NamedLearner):
    """A learner that reads a view, or several. features : its name, or their names."""

    features: Annotated[str | tuple[str, ...], AfterValidator(_different)] = "words"

    @property
    def views(self) -> tuple[str, ...]:
        """The names of the views."""
        return (self.features,) if isinstance(self.features, str) else self.features
