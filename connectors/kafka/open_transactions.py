"""Transactions that stay open hold back what is behind them: nothing of it can be read before they end."""

from collections.abc import Callable, Mapping

from connectors.kafka.client import Part
from streamlin.events import Position


class OpenTransactions:
    """Knows up to where partitions can be read, and says once what is held back there.

    notice : shows the user one line.
    """

    def __init__(self, notice: Callable[[str], None]) -> None:
        self._notice = notice
        self._held: dict[Part, int] = {}
        self._said: dict[Part, int] = {}

    def ends(self, stable: Mapping[Part, int], log_ends: Mapping[Part, int]) -> None:
        """With stop=end: partitions end at `stable`; their logs had gone on to `log_ends` before that was asked."""
        for (topic, partition), end in stable.items():
            if (log_end := log_ends.get((topic, partition), end)) > end:
                held = f"offsets {end:,} to {log_end:,} are behind an open transaction"
                self._notice(f"{topic}/{partition}: {held}; stop=end ends before them")

    def asked(self, stable: Mapping[Part, int], log_ends: Mapping[Part, int]) -> None:
        """Nothing has come for some time, and partitions end at `stable`; says so if that lasts."""
        held = {part: end for part, end in stable.items() if log_ends.get(part, end) > end}
        for part, end in held.items():
            if self._held.get(part) == end != self._said.get(part):
                self._said[part] = end
                line = f"what follows offset {end:,} is behind a transaction that stays open"
                self._notice(f"{part[0]}/{part[1]}: {line}; it is read once that has ended")
        self._held = held

    def readable(self, places: Mapping[Part, Position], log_ends: Mapping[Part, int]) -> dict[Part, int]:
        """Up to where partitions can be read, as far as known. places : where reading is."""
        held = {part: end for part, end in self._held.items() if part in places and places[part]["offset"] <= end}
        return dict(log_ends) | held
