"""Why a text gets its label."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamlin.explanation.reasons import Reasons

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """What each n-gram of a text adds to each label's score, learner by learner.

    A notebook shows it as a page does, a terminal as a table.

    text : its pieces joined by a line feed. learners : by name. lead : the one whose prediction is given out.
    predicted : the label that is given out; None while none is known.
    """

    text: str
    learners: dict[str, Reasons]
    lead: str
    predicted: str | None

    def to_dict(self, top: int = 10) -> dict[str, Any]:
        """JSON-able: of each learner its scores, base, `top` heaviest features, and the sum of the rest.

        Of each label's numbers, base, features and rest sum to its score.
        """
        learners = {name: reasons.to_dict(top) for name, reasons in self.learners.items()}
        return {"text": self.text, "predicted": self.predicted, "lead": self.lead, "learners": learners}

    def table(self, top: int = 10) -> "RenderableType":
        """For a terminal, by rich: a table a learner; numbers are less their mean over all labels."""
        from streamlin.explanation.table import tables

        return tables(self.learners, top)

    def to_html(self, top: int = 10) -> str:
        """A page of its own: the text shaded by what speaks for and against, and the tables."""
        from streamlin.explanation.page import page

        return page([(self.text, self.learners)], top)

    def __repr__(self) -> str:
        from streamlin.explanation.table import as_text

        return as_text(self.learners)

    def _repr_html_(self) -> str:
        from streamlin.explanation.page import fragment

        return fragment([(self.text, self.learners)], 10)
