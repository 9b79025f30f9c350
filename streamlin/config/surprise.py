"""The table `[surprise]`."""

from typing import Annotated, Literal

from pydantic import Field

from streamlin.config.base import Count, Strict


class SurpriseConfig(Strict):
    """A language model that says how surprising each text is.

    model : "kneser_ney", or the plainer "witten_bell".
    max_pairs : once so many pairs of neighbouring words are known, further ones, and their words, are ignored.
    by_label : the report has the perplexity of the texts of each label.
    """

    model: Literal["kneser_ney", "witten_bell", "none"] = "none"
    max_pairs: Annotated[Count, Field(le=1_000_000_000)] = 4_000_000
    by_label: bool = False
