"""What the bodies of all requests have in common: their types of values, and the keys that any event may have."""

from collections.abc import Sequence
from copy import copy
from typing import Annotated, Any, Self, TypeVar
from uuid import uuid4

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    StrictFloat,
    StrictInt,
    StrictStr,
    create_model,
)

from streamlin.config import RunConfig, further_fields
from streamlin.errors import RecordError
from streamlin.events import MAX_WEIGHT, Event
from streamlin.formats.json import JsonFormat
from streamlin.formats.values import rfc_3339


def _moment(time: str) -> str:
    try:
        rfc_3339(time)
    except RecordError as error:
        raise ValueError(str(error)) from None
    return time


Finite = Annotated[StrictFloat, Field(allow_inf_nan=False)]
_Whole = Annotated[StrictInt, Field(gt=-(10**100), lt=10**100)]
Name = Annotated[StrictStr, Field(min_length=1)] | _Whole | Finite
"""A text, or a number, which is turned into text."""
Moment = Annotated[StrictStr, AfterValidator(_moment), Field(json_schema_extra={"format": "date-time"})] | Finite
WHOLE = "whole"
"""The type of a finding about a whole body, whose message says everything; `key` in its context is the key it is about,
or empty."""


class Keys(BaseModel):
    """A mapping whose keys are all known."""

    model_config = ConfigDict(extra="forbid")


class Fields(Keys):
    """Further fields of an event by name, as configured: categories, and the fields to slice by."""


class Body(Keys):
    """The keys that any event may have."""

    _place: str = PrivateAttr("")

    id: Name | None = Field(None, description="The event's id, by which a delayed label refers to it.", examples=["42"])
    weight: Annotated[Finite, Field(ge=0, le=MAX_WEIGHT)] | None = Field(
        None, description="How much the event counts; 1 by default."
    )
    time: Moment | None = Field(None, description="The time of the event: Unix seconds, or RFC 3339.")

    @property
    def place(self) -> str:
        """Where it is in a list, as `[2]`; empty if the body is no list."""
        return self._place

    @place.setter
    def place(self, place: str) -> None:
        self._place = place

    @property
    def id_text(self) -> str | None:
        """The id as text."""
        return None if self.id is None else str(self.id)

    def further(self) -> dict[str, str | None]:
        """The further fields that are given, by name."""
        fields: Fields | None = self.__dict__.get("fields")  # only models with further fields have it
        given = {} if fields is None else fields.model_dump(by_alias=True, exclude_none=True)
        return {name: str(value) for name, value in given.items()}

    @property
    def is_label(self) -> bool:
        """Whether it is only the label of an earlier text."""
        return False

    @property
    def size(self) -> int:
        """How much there is to predict, for limits: the characters of a text, the tokens of a sentence."""
        raise NotImplementedError

    @property
    def labels(self) -> Sequence[str]:
        """The labels that the model knows once the body is learned; none for an event of weight 0."""
        return ()

    def line(self, lines: JsonFormat) -> bytes:
        """The body as the line that is stored."""
        raise NotImplementedError

    def named(self) -> Self:
        """The same event, with a new id if it has none."""
        return self if self.id is not None else self.model_copy(update={"id": uuid4().hex})

    @classmethod
    def configured(cls, config: RunConfig) -> dict[str, Any]:
        """The keys that depend on the configuration: bounds of lengths, and further fields as the stream names them."""
        own: dict[str, Any] = {"id": (bounded(config.pipeline.max_id_characters) | None, copy(cls.model_fields["id"]))}
        names = _further(config)
        if names:
            kind = bounded(config.pipeline.max_field_characters) | None
            fields: Any = by_name(Fields, names, kind)
            own["fields"] = (fields | None, None)
        return own

    def _event(self, text: str, label: Name | None = None) -> Event:
        return Event(
            text,
            None if label is None else str(label),
            self.id_text,
            1.0 if self.weight is None else self.weight,
            rfc_3339(self.time) if isinstance(self.time, str) else self.time,
            self.further(),
        )


Named = TypeVar("Named", bound=Keys)


def _further(config: RunConfig) -> list[str]:
    """The fields that do not have a key of their own in a body."""
    fields = config.fields
    own = [*fields.text, fields.id, fields.weight, fields.time]
    own += [fields.tokens, fields.tags, *fields.columns] if config.task == "tagging" else [fields.label]
    return [name for name in further_fields(config) if name not in own]


def by_name(model: type[Named], names: Sequence[str], kind: Any) -> type[Named]:
    """The model with a key for each name, which a stream may have chosen: dots and blanks are allowed."""
    keys: dict[str, Any] = {f"f{i}": (kind, Field(None, alias=name)) for i, name in enumerate(names)}
    made: type[Named] = create_model(model.__name__, __base__=model, __doc__=model.__doc__, **keys)
    return made


def bounded(longest: int) -> Any:
    """`Name` with a bound."""
    return Annotated[StrictStr, Field(min_length=1, max_length=longest)] | _Whole | Finite


def placed(place: str, reason: str) -> str:
    """A reason with a place in the body, which is empty for all of it."""
    return f"{place}: {reason}" if place else reason
