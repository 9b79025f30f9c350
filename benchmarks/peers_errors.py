"""By how much the most accurate configuration makes fewer errors than VW's best, over all real streams."""

from statistics import mean
from typing import Any

from benchmarks.peer_scores import RAW, TOKENS, VW18, VW24
from benchmarks.peer_tools import ACCURATE
from benchmarks.tables import percent, table


def error_table(streams: dict[str, Any]) -> str:
    """1 − error / error of VW's best: the mean over the streams, and the worst stream."""
    rows = []
    for ours in (TOKENS, RAW):
        for theirs in (VW18, VW24):
            fewer = {name: _fewer(stream["rows"], ours, theirs) for name, stream in streams.items()}
            worst = min(fewer, key=lambda name: fewer[name])
            shown = f"{percent(fewer[worst])} ({worst})"
            rows.append([f"{ours}: {ACCURATE}", theirs, str(len(fewer)), percent(mean(fewer.values())), shown])
    return table(["ours", "best of", "streams", "errors fewer, mean %", "worst stream"], rows, left=2)


def _fewer(rows: list[dict[str, Any]], ours: str, theirs: str) -> float:
    wrong = {(row["tool"], row["name"]): row["score"]["events"] - row["score"]["right"] for row in rows}
    least = min(count for (tool, _), count in wrong.items() if tool == theirs)
    return 1 - wrong[ours, ACCURATE] / least
