"""Notices that the first events of a run all have an id and no label: in VW, labels that touch the bar are ids."""

from streamlin.events import Batch

_EVENTS = 1000


class TaggedTexts:
    """Looks at the first thousand events of a run.

    hint : completes the line; empty where the format can't confuse ids and labels.
    """

    def __init__(self, hint: str) -> None:
        self._hint = hint
        self._left = _EVENTS if hint else 0

    def observe(self, batch: Batch) -> str | None:
        """Take a batch into account; returns a line to show at the thousandth event, if at all."""
        if self._left == 0:
            return None
        if None in batch.ids or batch.labels.count(None) < len(batch):
            self._left = 0
            return None
        self._left = max(0, self._left - len(batch))
        return (
            None if self._left else f"no event has a label after {_EVENTS:,} events, but each has an id; {self._hint}"
        )
