"""Snapshots as messages for open pages."""

from typing import Any

import msgspec


class Frame:
    """A snapshot in two forms: whole, for a page that does not have the previous frame; and only the news.

    Only the curve is long, so the news hold the rest of the snapshot, and those points of the curve that follow the
    previous frame's. If the earlier points have changed, the news hold the whole curve.

    Parameters
    ----------
    snapshot : the contents of the page; `done` says whether it is the last one.
    before : the previous frame, or None.
    """

    def __init__(self, snapshot: dict[str, Any], before: "Frame | None") -> None:
        self.number: int = 1 if before is None else before.number + 1
        self.done: bool = snapshot["done"]
        self._curve: dict[str, Any] | None = snapshot.get("curve")
        self._head = {key: value for key, value in snapshot.items() if key != "curve"}
        self.whole = self._message(0)
        self.news = self.whole if before is None else self._message(before.points_in(self._curve))

    def points_in(self, curve: dict[str, Any] | None) -> int:
        """How many points this frame has, if a later curve begins with the same points; otherwise 0."""
        if self._curve is None or curve is None:
            return 0
        had = self._curve["labelled"]
        return len(had) if curve["labelled"][: len(had)] == had else 0

    def _message(self, begin: int) -> bytes:
        """A server-sent event. JSON has no raw line feed, so one `data:` line holds it."""
        shown = self._head if self._curve is None else self._head | {"curve": _behind(self._curve, begin)}
        return b"data: " + msgspec.json.encode(shown) + b"\n\n"


def _behind(curve: dict[str, Any], begin: int) -> dict[str, Any]:
    points = {
        key: values[begin:] if key == "labelled" else [series[begin:] for series in values]
        for key, values in curve.items()
    }
    return {"begin": begin} | points
