"""Bodies of requests where tokens are tagged."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Annotated, Any, ClassVar, LiteralString, Self

import numpy as np
from pydantic import ConfigDict, Field, StrictStr, model_validator
from pydantic_core import PydanticCustomError

from streamlin.checkpoint.run_state import RunState
from streamlin.config import RunConfig
from streamlin.delayed_labels.plan import old_texts
from streamlin.events import Batch, single_records
from streamlin.formats.json import JsonFormat
from streamlin.formats.json_sentences import JsonSentences
from streamlin.service.body import WHOLE, Body, Keys, by_name, placed
from streamlin.service.problems import Refused

_LENGTHS = "{found} values for {tokens} tokens, expected as many"
_NULL = {"type": "null"}
_TOKENS: dict[str, Any] = {"required": ["tokens"], "properties": {"tokens": {"type": "array"}, "text": _NULL}}
_TEXT: dict[str, Any] = {"required": ["text"], "properties": {"text": {"type": "string"}, "tokens": _NULL}}
_LABEL: dict[str, Any] = {
    "required": ["id"],
    "properties": {"id": {"not": _NULL}, "tokens": _NULL, "text": _NULL},
}


def _list_of(kind: Any) -> Any:
    """A list that is refused at its first wrong value: a finding for each of a million would take long."""
    return Annotated[list[kind], Field(fail_fast=True)]


class Columns(Keys):
    """Further lists by name, as configured: features of the tokens, a value for each."""


class Sentence(Body):
    """Tokens to tag, or a text that is cut into tokens. If several fields are configured as the text, it has a line for
    each."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [_TOKENS, _TEXT]})
    needs: ClassVar[LiteralString] = "needs tokens or a text"

    tokens: Annotated[list[StrictStr], Field(fail_fast=True)] | None = Field(None, examples=[["Win", "a", "prize"]])
    text: StrictStr | None = None

    @property
    def is_label(self) -> bool:
        return False

    @property
    def size(self) -> int:
        return len(self.text or "") if self.tokens is None else len(self.tokens)

    @property
    def columns_by_name(self) -> Mapping[str, Sequence[str | None]]:
        """The further lists that are given."""
        columns: Columns | None = self.__dict__.get("columns")  # only models with further columns have it
        return {} if columns is None else columns.model_dump(by_alias=True, exclude_none=True)

    @property
    def lists(self) -> Mapping[str, Sequence[str | None]]:
        """The lists that must have a value for each token, by their keys."""
        return {f"columns.{name}": values for name, values in self.columns_by_name.items()}

    def line(self, lines: JsonFormat) -> bytes:
        return self._line(lines, None)

    def _line(self, lines: JsonFormat, tags: Sequence[str | None] | None) -> bytes:
        assert isinstance(lines, JsonSentences)
        return lines.encode_sentence(self._event(self.text or ""), self.tokens, tags, self.columns_by_name, self.text)

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.tokens is None) == (self.text is None) and not self.is_label:
            found = "neither" if self.text is None else "both"
            raise PydanticCustomError(WHOLE, self.needs + ", got " + found, {"key": ""})
        if self.tokens is not None:
            n = len(self.tokens)
            for name, values in self.lists.items():
                if len(values) != n:
                    raise PydanticCustomError(WHOLE, _LENGTHS, {"key": name, "found": len(values), "tokens": n})
        return self

    @classmethod
    def configured(cls, config: RunConfig) -> dict[str, Any]:
        own = super().configured(config)
        if config.fields.columns:
            kind = _list_of(StrictStr | None) | None
            columns: Any = by_name(Columns, config.fields.columns, kind)
            own["columns"] = (columns | None, None)
        return own


class TaggedSentence(Sentence):
    """Tokens, or a text, and their tags, to learn from. Without both they are the tags of the sentence with that id,
    which was predicted with `await_label`."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [_TOKENS, _TEXT, _LABEL]})
    needs: ClassVar[LiteralString] = "needs tokens, a text, or the id of an earlier sentence"

    tags: list[StrictStr | None] = Field(examples=[["VERB", "DET", "NOUN"]])

    @property
    def is_label(self) -> bool:
        return self.tokens is None and self.text is None and self.id is not None

    @property
    def size(self) -> int:
        return max(super().size, len(self.tags))

    @property
    def labels(self) -> Sequence[str]:
        return () if self.weight == 0 else [tag for tag in dict.fromkeys(self.tags) if tag is not None]

    @property
    def lists(self) -> Mapping[str, Sequence[str | None]]:
        return {"tags": self.tags, **super().lists}

    def line(self, lines: JsonFormat) -> bytes:
        return self._line(lines, self.tags)

    @classmethod
    def configured(cls, config: RunConfig) -> dict[str, Any]:
        own = super().configured(config)
        tag = Annotated[StrictStr, Field(min_length=1, max_length=config.pipeline.max_label_characters)] | None
        own["tags"] = (_list_of(tag), copy(cls.model_fields["tags"]))
        return own


def batch_of(bodies: Sequence[Body], lines: JsonFormat) -> Batch:
    """The sentences as a batch. Raises Refused for one whose tags or columns are not as many as its text has tokens."""
    batch, dead = lines.decode(single_records([body.line(lines) for body in bodies]))
    if dead:
        raise Refused(422, placed(bodies[dead[0].record].place, dead[0].error))
    return batch


def is_checked(body: Body) -> bool:
    """Whether the lengths of its lists are known to fit; those of a text are once it is cut."""
    return not isinstance(body, Sentence) or not body.lists or body.tokens is not None


def check_lengths(bodies: Sequence[Body], lines: JsonFormat, state: RunState) -> None:
    """Raise Refused unless there are as many tags, and values of columns, as tokens.

    Tags by id are compared with the sentence that waits for them, unless that is accepted and its turn has not come.
    """
    batch, delayed = batch_of(bodies, lines), state.model.delayed_labels
    if batch.label_only is None or delayed is None:
        return
    with state.lock:
        waiting = delayed.texts_due(batch)
    old = old_texts(waiting, state.model.further_fields, batch)
    assert old.pieces is not None
    lengths = dict(zip(old.ids, np.diff(old.pieces).tolist(), strict=True))
    for body in bodies:
        n = lengths.get(body.id_text, body.size) if body.is_label else body.size
        if n != body.size:
            reason = f"{body.size} values for the {n} tokens of id {body.id_text!r:.60}, expected as many"
            raise Refused(422, placed(f"{body.place}.tags" if body.place else "tags", reason))
