"""Every key of the configuration, with its values and its default, as the pages write them."""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel

from streamlin.config import CLUSTERERS, PARSERS, TAGGERS, RunConfig, ViewConfig, learner_models, table_model

_OF_EACH_LEARNER = ("kind", "name", "features")


class Key(NamedTuple):
    values: str
    default: str


def keys() -> dict[str, Key]:
    """Dotted key -> what it takes; `VIEW`, `NAME`, `LABEL` and `WORD` stand for names."""
    found: dict[str, Key] = {}
    for table, model in RunConfig():
        if isinstance(model, BaseModel):
            found |= _below(table, type(model))
    found |= _below("features.VIEW", ViewConfig)
    found["priors.LABEL.WORD"] = Key(found["priors.strength"].values, "needed")
    kinds = ", ".join(f"`{json.dumps(kind)}`" for kind in (*learner_models(), *TAGGERS, *PARSERS, *CLUSTERERS))
    found |= {
        "learners.NAME.kind": Key(kinds, "needed"),
        "learners.NAME.name": Key("text", "the kind"),
        "learners.NAME.features": Key("text", '`"words"`'),
    }
    for kind in (*learner_models(), *TAGGERS, *PARSERS, *CLUSTERERS):
        found |= {f"learners.{kind}.{name}": key for name, key in own_keys(kind).items()}
    return found


def own_keys(kind: str) -> dict[str, Key]:
    """The keys that only learners of this kind have."""
    model = table_model(kind)
    if model is None:
        raise ValueError(f"{kind} is a learner of another package")
    return {name: key for name, key in _of(model).items() if name not in _OF_EACH_LEARNER}


def with_values(page: str) -> str:
    """The page with the values and the default of each key that begins a row of a table."""
    known = keys()

    def row(found: re.Match[str]) -> str:
        key = known.get(found[1])
        return f"| `{found[1]}` | {key.values} | {key.default} |" if key else found[0]

    return re.sub(r"^\| `([\w.]+)` \| [^|]* \| [^|]* \|", row, page, flags=re.MULTILINE)


def _below(table: str, model: type[BaseModel]) -> dict[str, Key]:
    return {f"{table}.{name}": key for name, key in _of(model).items()}


def _of(model: type[BaseModel]) -> dict[str, Key]:
    schema = model.model_json_schema()
    needed = schema.get("required", [])
    return {
        name: Key(_values(own), _default(own.get("default")) if name not in needed else "needed")
        for name, own in schema["properties"].items()
        if name not in ("views", "labels")
    }


def _default(value: Any) -> str:
    return "none" if value is None else f"`{json.dumps(value)}`"


def _values(schema: Mapping[str, Any]) -> str:
    """The values that a JSON schema allows, in words; without null, which TOML does not have."""
    choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
    if choices:
        schema = choices[-1]  # of one text, or several, the latter
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{json.dumps(value)}`" for value in schema.get("enum", [schema.get("const")]))
    kind = schema["type"]
    if kind == "array":
        if "prefixItems" in schema:
            return " and ".join(_values(item) for item in schema["prefixItems"])
        of = schema["items"]
        if of.get("type") == "number":
            some = f"{schema['minItems']} to {schema['maxItems']} " if "maxItems" in schema else ""
            return f"{some}numbers{_bounds(of)}"
        return f"any of {_values(of)}" if "enum" in of else "one text, or several"
    if kind == "string":
        return "secret" if schema.get("format") == "password" else "text"
    words = {"object": "table", "boolean": "`true`, `false`", "integer": "whole number", "number": "number"}
    return words[kind] + _bounds(schema)


def _bounds(schema: Mapping[str, Any]) -> str:
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    bounds = [f"{sign} {schema[name]:g}" for name, sign in signs.items() if name in schema]
    return f" {', '.join(bounds)}".rstrip()
