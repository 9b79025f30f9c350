"""The table `[[learners]]` of a mixture."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from streamlin.config.base import Names
from streamlin.config.named import NamedLearner

_Positive = Annotated[float, Field(strict=True, gt=0)]


class MixtureConfig(NamedLearner):
    """A mixture of other learners.

    members : names of learners listed before it; by default all of them.
    start : the weight that each member has before the first label, in their order; by default the same for all.
    first_variances : by member, the largest variance of its scores that counts before the first label.
    """

    kind: Literal["mixture"]
    members: Names = ()
    start: tuple[_Positive, ...] | None = None
    first_variances: dict[str, _Positive] = {}

    def check_members(self, before: Sequence[str]) -> None:
        """Raise ValueError for members not listed before it, weights of another number, variances of others."""
        if not before:
            raise ValueError(f"learners.{self.name}: expected learners listed before it, found none")
        for member in self.members:
            if member not in before:
                found = f"learners.{self.name}.members: no learner '{member}' listed before it"
                raise ValueError(f"{found}, expected one of {', '.join(before)}")
        own = self.members or before
        for member in self.first_variances:
            if member not in own:
                found = f"learners.{self.name}.first_variances: '{member}' is not a member"
                raise ValueError(f"{found}, expected one of {', '.join(own)}")
        members = len(own)
        if self.start is not None and len(self.start) != members:
            found = f"learners.{self.name}.start: found {len(self.start)} weights"
            raise ValueError(f"{found}, expected one for each of {members} members")
