"""The tables `[[learners]]` of external models, which are those of river and scikit-learn."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from streamlin.config.base import Count, Names
from streamlin.config.named import NamedLearner


class _ExternalModel(NamedLearner):
    """A model of another library; see `streamlin.external_models`.

    object : `package.module:factory`; called with `arguments`, it returns a new model.
    features : the view that the model gets if `input` is features.
    on_error : when the model raises, retire it, or stop the run.
    show_errors : show the text of its exceptions, which may quote events; otherwise their type only.
    pickle : allow its state to be pickled into a checkpoint and unpickled from there, which runs code.
    """

    object: Annotated[str, Field(pattern=r"^[\w.]+:[\w.]+$")]
    arguments: dict[str, Any] = {}
    features: str = "words"
    on_error: Literal["retire", "stop"] = "retire"
    show_errors: bool = False
    pickle: bool = False


class RiverConfig(_ExternalModel):
    """A classifier of river. input : the model gets the text, or features as a mapping of bucket to value."""

    kind: Literal["river"]
    input: Literal["text", "features"] = "text"


class SklearnConfig(_ExternalModel):
    """A classifier of scikit-learn with `partial_fit`.

    input : the model gets features as a sparse matrix of one row, or a list of one text.
    bits : the matrix has 2^bits columns, or 2^features.bits if that is less; scikit-learn mostly touches every column
        at every event.
    classes : all labels of the stream; empty if they are not known beforehand.
    """

    kind: Literal["sklearn"]
    input: Literal["features", "text"] = "features"
    bits: Annotated[Count, Field(le=31)] = 18
    classes: Names = ()

    @field_validator("classes")
    @classmethod
    def _several(cls, classes: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(classes)) < len(classes) or len(classes) == 1:
            raise ValueError("needs at least two labels, each once")
        return classes


ExternalModelConfig = RiverConfig | SklearnConfig


def needs_pickle(name: str) -> str:
    """The message for an external model that would have to be pickled without permission."""
    return (
        f"learners.{name}.pickle: an external model can be saved only by pickling; pickle = true allows that, and "
        "unpickling it later, which runs code"
    )
