"""The bodies of requests, as models that check them and turn them into lines."""

import re
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Annotated, Any, Generic, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictStr,
    TypeAdapter,
    ValidationError,
    create_model,
    model_validator,
)

from streamlin.config import RunConfig
from streamlin.config.findings import line_of
from streamlin.events import BOM
from streamlin.formats.json import JsonFormat
from streamlin.service.body import WHOLE, Body, Name, bounded, placed
from streamlin.service.problems import Refused

_LIST = re.compile(rb"[ \t\r\n]*\[")
_UNICODE = {b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
"""Encodings by their byte order marks."""
_EXPECTED = {
    "id": "needs a text that is not empty, or a number",
    "label": "needs a text that is not empty, or a number",
    "time": "needs Unix seconds or RFC 3339, as 2024-05-01T12:00:00Z",
    "fields": "needs texts or numbers by name",
    "tokens": "needs a list of texts",
    "tags": "needs a list of texts, null for an unknown one",
    "columns": "needs lists of texts by name",
}
"""For unions, of which pydantic mentions only the first member."""
_LISTS = {
    "tokens": "needs a text",
    "tags": "needs a text that is not empty, or null for an unknown tag",
    "columns": "needs a text, or null for a missing value",
}
"""Of the values in the lists of a sentence."""


class Text(Body):
    """A text to predict. If several fields are configured as the text, it has a line for each."""

    text: StrictStr = Field(examples=["You have won a prize"])

    @property
    def size(self) -> int:
        return len(self.text)

    def line(self, lines: JsonFormat) -> bytes:
        return lines.encode(self._event(self.text))


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

    @property
    def size(self) -> int:
        return len(self.text or "")

    @property
    def labels(self) -> Sequence[str]:
        return () if self.weight == 0 else (str(self.label),)

    def line(self, lines: JsonFormat) -> bytes:
        event = self._event(self.text or "", self.label)
        return lines.encode_label(event) if self.is_label else lines.encode(event)

    @classmethod
    def configured(cls, config: RunConfig) -> dict[str, Any]:
        own = super().configured(config)
        label = bounded(config.pipeline.max_label_characters), copy(cls.model_fields["label"])
        return {"id": own["id"], "label": label} | own


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
            "tags": ("pipeline.max_label_characters", lengths.max_label_characters),
            "fields": ("pipeline.max_field_characters", lengths.max_field_characters),
        }
        self.model: type[Kind] = create_model(
            model.__name__, __base__=model, __doc__=model.__doc__, **model.configured(config)
        )
        self._most = most
        self._most_tokens = config.serve.max_tokens if config.task == "tagging" else None
        many = Annotated[list[self.model], Field(max_length=most)]  # type: ignore[name-defined]  # a model made at run time
        self._one: TypeAdapter[Kind] = TypeAdapter(self.model)
        self._many: TypeAdapter[list[Kind]] = TypeAdapter(many)
        either: Any = self.model | many
        self._either: TypeAdapter[Any] = TypeAdapter(either)

    def read(self, body: bytes) -> tuple[Sequence[Kind], bool]:
        """The objects of a body, and whether it is a list. Raises Refused."""
        body = _without_mark(body)
        is_list = _LIST.match(body) is not None
        try:
            found = self._many.validate_json(body) if is_list else [self._one.validate_json(body)]
        except ValidationError as error:
            raise self._refused(error.errors(include_url=False)[0]) from None
        if self._most_tokens is not None and (size := sum(one.size for one in found)) > self._most_tokens:
            raise Refused(422, f"{size:,} tokens, but at most serve.max_tokens = {self._most_tokens:,} in one request")
        if is_list:
            for number, one in enumerate(found):
                one.place = f"[{number}]"
        return found, is_list

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
        if finding["type"] == WHOLE:
            return Refused(422, placed(_where(index, [finding["ctx"]["key"]]), finding["msg"]))
        is_unknown = finding["type"] == "extra_forbidden"
        in_lists = bool(loc) and loc[0] in _LISTS
        keys = loc if is_unknown or in_lists else loc[:1]  # after the first key pydantic names members of unions
        if finding["type"] == "string_too_long":
            key, longest = self._longest[loc[0]]
            where = _where(index, loc if in_lists else loc[: 1 + (loc[0] == "fields")])
            return Refused(422, f"{where}: {len(finding['input']):,} characters, but at most {key} = {longest:,}")
        expected = _EXPECTED.get(loc[0], "") if loc else ""
        if in_lists and isinstance(loc[-1], int):
            expected = _LISTS[loc[0]]
        known = self._known(loc) if is_unknown else ()
        return Refused(422, line_of(finding, _where(index, keys), "an object", known, expected))

    def _known(self, loc: Sequence[Any]) -> list[str]:
        """The keys that are allowed where an unknown one was found."""
        model: type[BaseModel] = self.model
        if len(loc) > 1:
            model = model.model_fields[loc[0]].annotation.__args__[0]  # type: ignore[union-attr]
        return [field.alias or name for name, field in model.model_fields.items()]


def _where(index: str, keys: Sequence[Any]) -> str:
    """A place in a body, as `[1].tags[2]`."""
    found = index
    for key in keys:
        found += f"[{key}]" if isinstance(key, int) else f"{'.' if found and key else ''}{str(key)[:60]}"
    return found


def _without_mark(body: bytes) -> bytes:
    """The body without UTF-8's byte order mark. Raises Refused for that of another encoding."""
    for mark, name in _UNICODE.items():
        if body.startswith(mark):
            raise Refused(415, f"the body is {name}: expected UTF-8")
    return body.removeprefix(BOM)
