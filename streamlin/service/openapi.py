"""The service's OpenAPI document: `openapi.json` and the models' schemas of the bodies."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from streamlin.config import RunConfig
from streamlin.service.bodies import Bodies
from streamlin.service.wanted import default_limit
from streamlin.version import __version__


def description(texts: Bodies[Any], examples: Bodies[Any], config: RunConfig) -> dict[str, Any]:
    """The whole document, JSON-able.

    texts, examples : the bodies of `/predict` and `/learn`; they depend on the configuration.
    """
    document = _read("openapi")
    if config.task == "tagging":
        document = _patched(document, _read("openapi-tagging"))
    document["info"]["version"] = __version__
    _, limit = document["paths"]["/labels-wanted"]["get"]["parameters"]
    limit["schema"] |= {"maximum": config.serve.max_batch, "default": default_limit(config)}
    schemas = document["components"]["schemas"]
    schemas["PredictBody"] = texts.schema(schemas)
    schemas["LearnBody"] = examples.schema(schemas)
    return document


def _read(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(files("streamlin.service").joinpath(f"{name}.json").read_bytes())
    return document


def _patched(document: Any, patch: Any) -> Any:
    """The document with a merge patch, RFC 7396: null removes a key."""
    if not isinstance(patch, Mapping):
        return patch
    old = document if isinstance(document, Mapping) else {}
    kept = {key: value for key, value in old.items() if key not in patch}
    return kept | {key: _patched(old.get(key), value) for key, value in patch.items() if value is not None}
