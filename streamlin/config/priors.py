"""The table `[priors]`: words of labels, set by hand."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator

from streamlin.config.base import Strict
from streamlin.config.findings import line_of, shown
from streamlin.config.pipeline import PipelineConfig
from streamlin.errors import ConfigError

Weight = Annotated[float, Field(strict=True, gt=0, le=1e5)]


class PriorsConfig(Strict):
    """`strength`, and a table for each label, such as `urgent = { outage = 1, "data loss" = 2 }`.

    strength : how many occurrences a word of weight 1 stands for, as naive Bayes counts; linear learners start with
        weights that grow with it.
    labels : label -> word or phrase -> its weight.
    """

    strength: Weight = 10.0
    labels: dict[str, dict[str, Weight]] = {}

    def check_labels(self, limits: PipelineConfig) -> None:
        """Raise ConfigError for more labels, or longer ones, than events may bring."""
        if len(self.labels) > limits.max_labels:
            raise ConfigError(
                f"pipeline.max_labels: [priors] names {len(self.labels):,} labels, expected at most "
                f"{limits.max_labels:,}; raise the limit, or name fewer"
            )
        for label in self.labels:
            if len(label) > limits.max_label_characters:
                raise ConfigError(
                    f"priors: label {shown(label)} has {len(label):,} characters, expected at most "
                    f"{limits.max_label_characters:,} (pipeline.max_label_characters)"
                )

    @model_validator(mode="before")
    @classmethod
    def _gather_labels(cls, data: Any) -> Any:
        """A number is the strength; a table of words is that of a label, even if its name is `strength`."""
        if not isinstance(data, Mapping):
            return data
        rest = {key: value for key, value in data.items() if key == "strength" and not isinstance(value, Mapping)}
        labels = {key: value for key, value in data.items() if key not in rest}
        for label, words in labels.items():
            _check_text("a label", label)
            for word in words if isinstance(words, Mapping) else ():
                _check_text(f"a word of {shown(label)}", word)
        return rest | {"labels": labels}


def checked_priors(labels: Mapping[str, Mapping[str, float]], strength: float) -> PriorsConfig:
    """The table of these labels. Raises ConfigError for the first mistake."""
    try:
        return PriorsConfig.model_validate(dict(labels)).model_copy(
            update={"strength": PriorsConfig.model_validate({"strength": strength}).strength}
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "value_error":
            raise ConfigError(str(first["ctx"]["error"])) from None
        where = [str(part) for part in first["loc"] if part != "labels" or first["loc"].count(part) > 1]
        raise ConfigError(line_of(first, ".".join(["priors", *where]), "a table of words")) from None


def _check_text(what: str, name: Any) -> None:
    """Raise ValueError unless a name is a text."""
    if not isinstance(name, str) or not name:
        raise ValueError(f"priors: expected {what} to be a text, got {shown(name)}")
