"""Why a text gets its label."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamlin.explanation.reasons import Reasons

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The contribution of each n-gram of a text to each label's score, by learner.

    It is shown as HTML in notebooks, and as tables in terminals.

    text : its pieces joined by a line feed. learners : reasons by name. lead : the learner whose prediction is used.
    predicted : its predicted label; None if no label is known.
    """

    text: str
    learners: dict[str, Reasons]
    lead: str
    predicted: str | None

    def to_dict(self, top: int = 10) -> dict[str, Any]:
        """JSON-able: for each learner its scores, base, `top` heaviest features, and the sum of the rest.

        For each label, base, features and rest sum to its score.
        """
        learners = {name: reasons.to_dict(top) for name, reasons in self.learners.items()}
        return {"text": self.text, "predicted": self.predicted, "lead": self.lead, "learners": learners}

    def table(self, top: int = 10) -> "RenderableType":
        """Tables for a terminal, by rich, one per learner; the mean over all labels is subtracted from the numbers."""
        from streamlin.explanation.table import tables

        return tables(self.learners, top)

    def to_html(self, top: int = 10) -> str:
        """A complete page: the text, shaded by what speaks for and against its label, and the tables."""
        from streamlin.explanation.page import page

        return page([self.section(top)])

    def section(self, top: int) -> str:
        """Its part of a page."""
        from streamlin.explanation.page import section

        return section(self.text, self.learners, top)

    def __repr__(self) -> str:
        from streamlin.explanation.table import as_text

        return as_text(self.table())

    def _repr_html_(self) -> str:
        from streamlin.explanation.page import fragment

        return fragment([self.section(10)])
