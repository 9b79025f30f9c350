"""Dead letters by kind: the error without its particulars, so that a few kinds tell what a million records lack."""

import re
from collections.abc import Iterable, Mapping

from streamlin.events import DeadLetter

MOST_KINDS = 20
OTHERS = "other reasons"
"""Where errors are counted once there are `MOST_KINDS` kinds."""

_PARTICULARS = re.compile(r"(?<!\w)(?<!field )['\"].*['\"]|(?<!\S)[-+(]?\d\S*?(?=[,;:)]*(?:\s|$))", re.DOTALL)
"""What an error quotes from a record, and numbers. `UTF-8` is not a number, and a field's name is not from a record."""


def kind_of(error: str) -> str:
    """The error without quoted parts, numbers and explanations: `time is '…'`, `… cells`, `not JSON`."""
    kind = _PARTICULARS.sub(_masked, error)
    return kind.partition(": ")[0].partition(", expected ")[0]


def _masked(found: re.Match[str]) -> str:
    return "'…'" if found[0][0] in "'\"" else "…"


class DeadLetterKinds:
    """How many dead letters there are of each kind; of at most `MOST_KINDS` kinds, and of all others together."""

    def __init__(self, counts: Mapping[str, int] | None = None) -> None:
        self.counts = dict(counts or {})

    def add(self, letters: Iterable[DeadLetter]) -> None:
        """Count some more."""
        for letter in letters:
            kind = kind_of(letter.error)
            if kind not in self.counts and len(self.counts) >= MOST_KINDS:
                kind = OTHERS
            self.counts[kind] = self.counts.get(kind, 0) + 1

    def remove(self, error: str) -> None:
        """Count one less."""
        kind = kind_of(error)
        kind = kind if kind in self.counts else OTHERS
        self.counts[kind] = self.counts.get(kind, 0) - 1
        if self.counts[kind] <= 0:
            del self.counts[kind]

    def by_frequency(self) -> dict[str, int]:
        """The counts, the commonest kind first."""
        return dict(sorted(self.counts.items(), key=lambda item: -item[1]))
