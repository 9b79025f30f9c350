"""Why the tokens of a sentence get their tags."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamlin.explanation.tag_reasons import TagReasons

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, eq=False, repr=False)
class TagExplanation:
    """What each feature of each token, and the tags beside it, add to the scores of its tags, by tagger.

    It is shown as HTML in notebooks, and as tables in terminals.

    tokens : of the sentence. learners : reasons by name. lead : the tagger whose tags are used.
    predicted : its tags; each None if no tag is known.
    """

    tokens: list[str]
    learners: dict[str, TagReasons]
    lead: str
    predicted: list[str | None]

    def to_dict(self, top: int = 10) -> dict[str, Any]:
        """JSON-able: for each tagger and token the best scores, the `top` heaviest features, and the sum of the rest.

        For each tag, features, rest and beside sum to its score.
        """
        learners = {name: reasons.to_dict(top) for name, reasons in self.learners.items()}
        return {"tokens": self.tokens, "predicted": self.predicted, "lead": self.lead, "learners": learners}

    def table(self, top: int = 10) -> "RenderableType":
        """Tables for a terminal, by rich, one per token; the mean over all tags is subtracted from the numbers."""
        from streamlin.explanation.table import tag_tables

        return tag_tables(self.learners, top)

    def to_html(self, top: int = 10) -> str:
        """A complete page: the sentence with its tags, and a table for each token."""
        from streamlin.explanation.page import page

        return page([self.section(top)])

    def section(self, top: int) -> str:
        """Its part of a page."""
        from streamlin.explanation.tag_page import section

        return section(self.learners, top)

    def __repr__(self) -> str:
        from streamlin.explanation.table import as_text

        return as_text(self.table())

    def _repr_html_(self) -> str:
        from streamlin.explanation.page import fragment

        return fragment([self.section(10)])
