"""The tables `[[learners]]` of external models: models of river and of scikit-learn."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from streamlin.config.base import Count, Names
from streamlin.config.named import NamedLearner


class _ExternalModel(NamedLearner):
    """A model of another library; see `streamlin.external_models`.

    object : `package.module:factory`; called with `arguments`, it gives a new model.
    features : the view that it gets, where its `input` is features.
    on_error : what happens when it raises: it is retired, or the run stops.
    pickle : its state may be kept in a checkpoint, and taken from there, which runs code.
    """

    object: Annotated[str, Field(pattern=r"^[\w.]+:[\w.]+$")]
    arguments: dict[str, Any] = {}
    features: str = "words"
    on_error: Literal["retire", "stop"] = "retire"
    pickle: bool = False


class RiverConfig(_ExternalModel):
    """A classifier of river. input : it gets the text, or features as a mapping of bucket to value."""

    kind: Literal["river"]
    input: Literal["text", "features"] = "text"


class SklearnConfig(_ExternalModel):
    """A classifier of scikit-learn with `partial_fit`.

    input : it gets features as a sparse matrix of one row, or a list of one text.
    bits : that matrix has 2^bits columns, of which scikit-learn mostly touches each at every event; or 2^features.bits,
        if that is less.
    classes : all labels there will be; none: they are not known beforehand.
    """

    kind: Literal["sklearn"]
    input: Literal["features", "text"] = "features"
    bits: Annotated[Count, Field(le=31)] = 18
    classes: Names = ()

    @field_validator("classes")
    @classmethod
    def _several(cls, classes: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(classes)) < len(classes) or len(classes) == 1:
            raise ValueError("needs two labels at least, each once")
        return classes


ExternalModelConfig = RiverConfig | SklearnConfig


def needs_pickle(name: str) -> str:
    """What is said where an external model is to be kept that may not be pickled."""
    return (
        f"learners.{name}.pickle: what an external model has learned can only be kept pickled; pickle = true "
        "allows that, and that it is unpickled later on, which runs code"
    )
