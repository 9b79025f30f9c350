"""What requests hold, as models that check them and can say themselves as events."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Generic, Self, TypeVar
from uuid import uuid4

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    TypeAdapter,
    ValidationError,
    create_model,
    model_validator,
)

from streamlin.config import RunConfig, further_fields
from streamlin.errors import RecordError, nearest
from streamlin.events import Event
from streamlin.formats.values import rfc_3339
from streamlin.service.problems import Refused

_LIST = re.compile(rb"[ \t\r\n]*\[")


def _moment(time: str) -> str:
    try:
        rfc_3339(time)
    except RecordError as error:
        raise ValueError(str(error)) from None
    return time


Finite = Annotated[StrictFloat, Field(allow_inf_nan=False)]
Name = Annotated[StrictStr, Field(min_length=1)] | StrictInt | Finite
"""A text, or a number that stands for its text."""
Moment = Annotated[StrictStr, AfterValidator(_moment), Field(json_schema_extra={"format": "date-time"})] | Finite

_NEEDS = {
    "id": "needs a text that is not empty, or a number",
    "label": "needs a text that is not empty, or a number",
    "time": "needs Unix seconds or RFC 3339, as 2024-05-01T12:00:00Z",
    "fields": "needs texts or numbers by name",
}
"""Of what may be more than one thing: pydantic would tell only of the first."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Fields(_Strict):
    """Further fields of an event by name, as they are configured: categories, and those to slice by."""


class Body(_Strict):
    """What any event may have."""

    id: Name | None = Field(None, description="Of the event; a later label goes by it.", examples=["42"])
    weight: Annotated[Finite, Field(ge=0)] | None = Field(None, description="How much it counts; 1 by default.")
    time: Moment | None = Field(None, description="Unix seconds, or RFC 3339.")

    @property
    def id_text(self) -> str | None:
        """The id as events have it."""
        return None if self.id is None else str(self.id)

    def further(self) -> dict[str, str | None]:
        """Further fields by name, those that are given."""
        fields: Fields | None = self.__dict__.get("fields")  # there only where there are such fields
        given = {} if fields is None else fields.model_dump(by_alias=True, exclude_none=True)
        return {name: str(value) for name, value in given.items()}

    @property
    def is_label(self) -> bool:
        """Whether it is but the label of a text that came before."""
        return False

    def event(self) -> Event:
        """As the rest of streamlin has it; of a label alone the text is empty."""
        raise NotImplementedError

    def _event(self, text: str, label: Name | None = None) -> Event:
        return Event(
            text,
            None if label is None else str(label),
            self.id_text,
            1.0 if self.weight is None else self.weight,
            rfc_3339(self.time) if isinstance(self.time, str) else self.time,
            self.further(),
        )


class Text(Body):
    """A text to predict. Where several fields are configured as its text, it has a line for each."""

    text: StrictStr = Field(examples=["You have won a prize"])

    def event(self) -> Event:
        return self._event(self.text)

    def named(self) -> Self:
        """With an id, that of its own or a new one."""
        return self if self.id is not None else self.model_copy(update={"id": uuid4().hex})


class Example(Body):
    """A text and its label, to learn from. Without a text it is the label of the text of that id, which was predicted
    with `await_label`."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": ["text"], "properties": {"text": {"type": "string"}}},
                {"required": ["id"], "properties": {"id": {"not": {"type": "null"}}}},
            ]
        }
    )

    text: StrictStr | None = Field(None, examples=["You have won a prize"])
    label: Name = Field(examples=["spam"])

    @model_validator(mode="after")
    def _names_a_text(self) -> "Example":
        if self.text is None and self.id is None:
            raise ValueError("needs a text, or the id of one that came before")
        return self

    @property
    def is_label(self) -> bool:
        return self.text is None

    def event(self) -> Event:
        return self._event(self.text or "", self.label)


Kind = TypeVar("Kind", bound=Body)


class Bodies(Generic[Kind]):
    """Bodies of requests that are an object of one kind, or a list of them.

    model : the kind. most : how many a list may have. config : knows which further fields there are.
    """

    def __init__(self, model: type[Kind], most: int, config: RunConfig) -> None:
        self.model = _with_fields(model, _further(config))
        self._most = most
        many = Annotated[list[self.model], Field(max_length=most)]  # type: ignore[name-defined]  # it is made here
        self._one: TypeAdapter[Kind] = TypeAdapter(self.model)
        self._many: TypeAdapter[list[Kind]] = TypeAdapter(many)
        either: Any = self.model | many
        self._either: TypeAdapter[Any] = TypeAdapter(either)

    def read(self, body: bytes) -> tuple[Sequence[Kind], bool]:
        """What it holds, and whether as a list. Raises Refused."""
        try:
            if _LIST.match(body):
                return self._many.validate_json(body), True
            return [self._one.validate_json(body)], False
        except ValidationError as error:
            raise self._refused(error.errors(include_url=False)[0]) from None

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        """For OpenAPI; what it leads to is put among `definitions`."""
        schema = self._either.json_schema(ref_template="#/components/schemas/{model}")
        definitions |= schema.pop("$defs", {})
        return schema

    def _refused(self, error: Mapping[str, Any]) -> Refused:
        """One of pydantic's findings: what was found, where, what would be right."""
        kind, message = error["type"], error["msg"]
        if kind == "json_invalid":
            return Refused(400, f"not JSON: {error['ctx']['error']}")
        loc = list(error["loc"])
        index = f"[{loc.pop(0)}]" if loc and isinstance(loc[0], int) else ""
        key = str(loc[0]) if loc else ""
        where = ".".join(filter(None, [index, key]))
        prefix = f"{where}: " if where else ""
        if kind == "too_long":
            return Refused(422, f"{error['ctx']['actual_length']} events, but at most {self._most} in one request")
        if kind == "extra_forbidden":
            known = [field.alias or name for name, field in self._known(loc).items()]
            return Refused(422, f"{prefix}unknown key {loc[-1]!r:.60}; {nearest(str(loc[-1]), known)}")
        if kind == "missing":
            return Refused(422, f"{prefix}is missing")
        if kind == "value_error":
            message = str(error["ctx"]["error"])
        elif kind == "model_type":
            message = "needs an object"
        message = _NEEDS.get(key, message)
        return Refused(422, f"{prefix}{message[0].lower()}{message[1:]}, got {error['input']!r:.60}")

    def _known(self, loc: Sequence[Any]) -> Mapping[str, Any]:
        """The keys there are where an unknown one was found."""
        if len(loc) > 1:
            fields: type[Fields] = self.model.model_fields["fields"].annotation.__args__[0]  # type: ignore[union-attr]
            return fields.model_fields
        return self.model.model_fields


def _further(config: RunConfig) -> list[str]:
    """Fields beside those that have a place of their own."""
    fields = config.fields
    own = (*fields.text, fields.label, fields.id, fields.weight, fields.time)
    return [name for name in further_fields(config) if name not in own]


def _with_fields(model: type[Kind], names: Sequence[str]) -> type[Kind]:
    """The model with further fields; they are called what they are called in the stream."""
    if not names:
        return model
    columns: dict[str, Any] = {f"f{i}": (Name | None, Field(None, alias=name)) for i, name in enumerate(names)}
    fields = create_model("Fields", __base__=Fields, __doc__=Fields.__doc__, **columns)
    optional: Any = fields | None
    made: type[Kind] = create_model(model.__name__, __base__=model, __doc__=model.__doc__, fields=(optional, None))
    return made
