"""The bodies of requests, as models that check them and turn them into events."""

import re
from collections.abc import Mapping, Sequence
from copy import copy
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
from streamlin.config.findings import line_of
from streamlin.errors import RecordError
from streamlin.events import BOM, MAX_WEIGHT, Event
from streamlin.formats.values import rfc_3339
from streamlin.service.problems import Refused

_LIST = re.compile(rb"[ \t\r\n]*\[")
_UNICODE = {b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
"""Encodings by their byte order marks."""


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

_EXPECTED = {
    "id": "needs a text that is not empty, or a number",
    "label": "needs a text that is not empty, or a number",
    "time": "needs Unix seconds or RFC 3339, as 2024-05-01T12:00:00Z",
    "fields": "needs texts or numbers by name",
}
"""For unions, of which pydantic mentions only the first member."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Fields(_Strict):
    """Further fields of an event by name, as configured: categories, and the fields to slice by."""


class Body(_Strict):
    """The keys that any event may have."""

    id: Name | None = Field(None, description="The event's id, by which a delayed label refers to it.", examples=["42"])
    weight: Annotated[Finite, Field(ge=0, le=MAX_WEIGHT)] | None = Field(
        None, description="How much the event counts; 1 by default."
    )
    time: Moment | None = Field(None, description="The time of the event: Unix seconds, or RFC 3339.")

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

    def event(self) -> Event:
        """The body as an event; the text of a label alone is empty."""
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
    """A text to predict. If several fields are configured as the text, it has a line for each."""

    text: StrictStr = Field(examples=["You have won a prize"])

    def event(self) -> Event:
        return self._event(self.text)

    def named(self) -> Self:
        """The same text, with a new id if it has none."""
        return self if self.id is not None else self.model_copy(update={"id": uuid4().hex})


class Example(Body):
    """A text and its label, to learn from. Without a text it is the label of the text with that id, which was predicted
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
            raise ValueError("needs a text, or the id of an earlier text")
        return self

    @property
    def is_label(self) -> bool:
        return self.text is None

    def event(self) -> Event:
        return self._event(self.text or "", self.label)


Kind = TypeVar("Kind", bound=Body)


class Bodies(Generic[Kind]):
    """Reads bodies of requests that are one object, or a list of them.

    Parameters
    ----------
    model : the model of an object.
    most : how many objects a list may hold.
    config : names the further fields.
    """

    def __init__(self, model: type[Kind], most: int, config: RunConfig) -> None:
        lengths = config.pipeline
        self._longest = {
            "id": ("pipeline.max_id_characters", lengths.max_id_characters),
            "label": ("pipeline.max_label_characters", lengths.max_label_characters),
            "fields": ("pipeline.max_field_characters", lengths.max_field_characters),
        }
        self.model = _configured(model, _further(config), {name: most for name, (_, most) in self._longest.items()})
        self._most = most
        many = Annotated[list[self.model], Field(max_length=most)]  # type: ignore[name-defined]  # a model made at run time
        self._one: TypeAdapter[Kind] = TypeAdapter(self.model)
        self._many: TypeAdapter[list[Kind]] = TypeAdapter(many)
        either: Any = self.model | many
        self._either: TypeAdapter[Any] = TypeAdapter(either)

    def read(self, body: bytes) -> tuple[Sequence[Kind], bool]:
        """The objects of a body, and whether it is a list. Raises Refused."""
        body = _without_mark(body)
        try:
            if _LIST.match(body):
                return self._many.validate_json(body), True
            return [self._one.validate_json(body)], False
        except ValidationError as error:
            raise self._refused(error.errors(include_url=False)[0]) from None

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        """The JSON schema for OpenAPI; the schemas it refers to are added to `definitions`."""
        schema = self._either.json_schema(ref_template="#/components/schemas/{model}")
        definitions |= schema.pop("$defs", {})
        return schema

    def _refused(self, finding: Mapping[str, Any]) -> Refused:
        """The answer to one of pydantic's findings."""
        if finding["type"] == "json_invalid":
            return Refused(400, f"not JSON: {finding['ctx']['error']}")
        if finding["type"] == "too_long":
            return Refused(422, f"{finding['ctx']['actual_length']} events, but at most {self._most} in one request")
        loc = list(finding["loc"])
        index = f"[{loc.pop(0)}]" if loc and isinstance(loc[0], int) else ""
        is_unknown = finding["type"] == "extra_forbidden"
        keys = loc if is_unknown else loc[:1]  # after the first key pydantic names members of unions
        where = ".".join(filter(None, [index, *(str(key)[:60] for key in keys)]))
        if finding["type"] == "string_too_long":
            key, longest = self._longest[keys[0]]
            where = ".".join(filter(None, [index, *(str(part)[:60] for part in loc[: 1 + (keys[0] == "fields")])]))
            return Refused(422, f"{where}: {len(finding['input']):,} characters, but at most {key} = {longest:,}")
        expected = _EXPECTED.get(keys[0], "") if keys else ""
        return Refused(422, line_of(finding, where, "an object", self._known(loc) if is_unknown else (), expected))

    def _known(self, loc: Sequence[Any]) -> list[str]:
        """The keys that are allowed where an unknown one was found."""
        model: type[BaseModel] = self.model
        if len(loc) > 1:
            model = model.model_fields["fields"].annotation.__args__[0]  # type: ignore[union-attr]
        return [field.alias or name for name, field in model.model_fields.items()]


def _further(config: RunConfig) -> list[str]:
    """The fields that do not have a key of their own in a body."""
    fields = config.fields
    own = (*fields.text, fields.label, fields.id, fields.weight, fields.time)
    return [name for name in further_fields(config) if name not in own]


def _configured(model: type[Kind], names: Sequence[str], longest: Mapping[str, int]) -> type[Kind]:
    """The model with further fields, under the names that they have in the stream, and with bounds of lengths."""
    own: dict[str, Any] = {"id": (_name(longest["id"]) | None, copy(model.model_fields["id"]))}
    if "label" in model.model_fields:
        own["label"] = (_name(longest["label"]), copy(model.model_fields["label"]))
    if names:
        kind = _name(longest["fields"]) | None
        columns: dict[str, Any] = {f"f{i}": (kind, Field(None, alias=name)) for i, name in enumerate(names)}
        fields: Any = create_model("Fields", __base__=Fields, __doc__=Fields.__doc__, **columns)
        own["fields"] = (fields | None, None)
    made: type[Kind] = create_model(model.__name__, __base__=model, __doc__=model.__doc__, **own)
    return made


def _name(longest: int) -> Any:
    """`Name` with a bound."""
    return Annotated[StrictStr, Field(min_length=1, max_length=longest)] | _Whole | Finite


def _without_mark(body: bytes) -> bytes:
    """The body without UTF-8's byte order mark. Raises Refused for that of another encoding."""
    for mark, name in _UNICODE.items():
        if body.startswith(mark):
            raise Refused(415, f"the body is {name}: expected UTF-8")
    return body.removeprefix(BOM)
