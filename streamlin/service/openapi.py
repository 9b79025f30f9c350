"""The service's OpenAPI document: `openapi.json` and the models' schemas of the bodies."""

import json
from importlib.resources import files
from typing import Any

from streamlin.service.bodies import Bodies, Example, Text
from streamlin.version import __version__


def description(texts: Bodies[Text], examples: Bodies[Example]) -> dict[str, Any]:
    """The whole document, JSON-able.

    texts, examples : the bodies of `/predict` and `/learn`; they depend on the configuration.
    """
    document: dict[str, Any] = json.loads(files("streamlin.service").joinpath("openapi.json").read_bytes())
    document["info"]["version"] = __version__
    schemas = document["components"]["schemas"]
    schemas["PredictBody"] = texts.schema(schemas)
    schemas["LearnBody"] = examples.schema(schemas)
    return document
