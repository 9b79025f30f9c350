"""The table `[ask]`."""

from typing import Annotated

from pydantic import Field

from streamlin.config.base import Strict


class AskConfig(Strict):
    """Asking for the labels of some of the events that come without one.

    budget : the share of these events whose label is asked for; None: no label is asked for.
    hide_text : leave the texts out of what is asked.
    """

    budget: Annotated[float, Field(strict=True, gt=0, le=1)] | None = None
    hide_text: bool = False
