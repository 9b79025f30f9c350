"""Every key of the configuration, with its values and its default, as the pages write them."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel

from streamlin.config import RunConfig, ViewConfig, learner_models

_OF_EACH_LEARNER = ("kind", "name", "features")


class Key(NamedTuple):
    values: str
    default: str


def keys() -> dict[str, Key]:
    """Dotted key -> what it takes; `VIEW` and `NAME` stand for names."""
    found: dict[str, Key] = {}
    for table, model in RunConfig():
        if isinstance(model, BaseModel):
            found |= _of(type(model), table)
    found |= _of(ViewConfig, "features.VIEW")
    kinds = ", ".join(f"`{json.dumps(kind)}`" for kind in learner_models())
    found |= {
        "learners.NAME.kind": Key(kinds, "needed"),
        "learners.NAME.name": Key("text", "the kind"),
        "learners.NAME.features": Key("text", '`"words"`'),
    }
    for kind, learner in learner_models().items():
        own = _of(learner, f"learners.{kind}")
        found |= {name: key for name, key in own.items() if name.split(".")[-1] not in _OF_EACH_LEARNER}
    return found


def _of(model: type[BaseModel], table: str) -> dict[str, Key]:
    schema = model.model_json_schema()
    needed = schema.get("required", [])
    return {
        f"{table}.{name}": Key(_values(own), _default(own.get("default")) if name not in needed else "needed")
        for name, own in schema["properties"].items()
        if name != "views"
    }


def _default(value: Any) -> str:
    return "none" if value is None else f"`{json.dumps(value)}`"


def _values(schema: Mapping[str, Any]) -> str:
    """The values that a JSON schema allows, in words; without null, which TOML does not have."""
    choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
    if choices:
        (schema,) = choices
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{json.dumps(value)}`" for value in schema.get("enum", [schema.get("const")]))
    kind = schema["type"]
    if kind == "array":
        if "prefixItems" in schema:
            return " and ".join(_values(item) for item in schema["prefixItems"])
        of = schema["items"]
        return f"any of {_values(of)}" if "enum" in of else "one text, or several"
    if kind == "string":
        return "secret" if schema.get("format") == "password" else "text"
    words = {"object": "table", "boolean": "`true`, `false`", "integer": "whole number", "number": "number"}
    return words[kind] + _bounds(schema)


def _bounds(schema: Mapping[str, Any]) -> str:
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    bounds = [f"{sign} {schema[name]:g}" for name, sign in signs.items() if name in schema]
    return f" {', '.join(bounds)}".rstrip()
