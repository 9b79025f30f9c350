"""The table `[[learners]]` of a mixture."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from streamlin.config.base import Names
from streamlin.config.named import NamedLearner


class MixtureConfig(NamedLearner):
    """A mixture of other learners.

    members : names of learners listed before it; by default all of them.
    start : the weight that each member has before the first label, in their order; by default the same for all.
    """

    kind: Literal["mixture"]
    members: Names = ()
    start: tuple[Annotated[float, Field(strict=True, gt=0)], ...] | None = None

    def check_members(self, before: Sequence[str]) -> None:
        """Raise ValueError for members that are not listed before the mixture, or weights of another number."""
        if not before:
            raise ValueError(f"learners.{self.name}: expected learners listed before it, found none")
        for member in self.members:
            if member not in before:
                found = f"learners.{self.name}.members: no learner '{member}' listed before it"
                raise ValueError(f"{found}, expected one of {', '.join(before)}")
        members = len(self.members or before)
        if self.start is not None and len(self.start) != members:
            found = f"learners.{self.name}.start: found {len(self.start)} weights"
            raise ValueError(f"{found}, expected one for each of {members} members")
