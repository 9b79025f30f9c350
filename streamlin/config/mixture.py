"""The table `[[learners]]` of a mixture."""

from collections.abc import Sequence
from typing import Literal

from streamlin.config.base import Names
from streamlin.config.named import NamedLearner


class MixtureConfig(NamedLearner):
    """A mixture of other learners. members : names of learners listed before it; by default all of them."""

    kind: Literal["mixture"]
    members: Names = ()

    def check_members(self, before: Sequence[str]) -> None:
        """Raise ValueError for members that are not listed before the mixture."""
        if not before:
            raise ValueError(f"learners.{self.name}: expected learners listed before it, found none")
        for member in self.members:
            if member not in before:
                found = f"learners.{self.name}.members: no learner '{member}' listed before it"
                raise ValueError(f"{found}, expected one of {', '.join(before)}")
