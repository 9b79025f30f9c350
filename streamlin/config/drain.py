"""The table `[drain]`: templates of log lines."""

from typing import Annotated

from pydantic import Field

from streamlin.config.base import Count, Strict

TEMPLATE = "template"
"""The field that holds the template of an event: its own name for it, or what Drain finds."""


class DrainConfig(Strict):
    """Templates of log lines, found by Drain without labels.

    enabled : give each event that has no field `template` one.
    field : the field that holds the message; where an event has no such field, its text is read.
    similarity : the share of tokens that a line must have in common with a template of its length and first token.
    max_templates : once there are so many, lines that fit none get none.
    """

    enabled: bool = False
    field: Annotated[str, Field(min_length=1)] = "content"
    similarity: Annotated[float, Field(gt=0, le=1)] = 0.7
    max_templates: Annotated[Count, Field(le=1_000_000)] = 10_000
