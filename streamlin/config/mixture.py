"""The table `[[learners]]` of a mixture."""

from collections.abc import Sequence
from typing import Literal

from streamlin.config.base import Names
from streamlin.config.named import NamedLearner


class MixtureConfig(NamedLearner):
    """members : names of learners that stand before it; by default all."""

    kind: Literal["mixture"]
    members: Names = ()

    def check_members(self, before: Sequence[str]) -> None:
        """Raise ValueError for members that don't stand before the mixture."""
        if not before:
            raise ValueError(f"learners.{self.name}: it mixes learners that stand before it; there is none")
        for member in self.members:
            if member not in before:
                raise ValueError(
                    f"learners.{self.name}.members: no learner '{member}' before it (there is {', '.join(before)})"
                )
