"""Error against speed, one panel per stream: `python -m benchmarks.peers_picture PEERS.json PICTURE.svg`.

It runs in its own process, since the one that measures must stay small.
"""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from matplotlib.ticker import LogFormatter, NullFormatter

from benchmarks.peer_scores import RAW, TOKENS, VW18, VW24
from benchmarks.peers_accuracy import rate

_MARKS = {
    TOKENS: ("o", "#d62728"),
    RAW: ("*", "#d62728"),
    VW18: ("s", "#1f77b4"),
    VW24: ("P", "#17becf"),
    "river": ("^", "#2ca02c"),
    "scikit-learn": ("D", "#9467bd"),
}
_COLUMNS = 3


def main() -> None:
    source, target = sys.argv[1:]
    streams = {name: found for name, found in json.loads(Path(source).read_bytes())["accuracy"].items() if found}
    plt.rcParams.update({"font.size": 9, "svg.hashsalt": "streamlin", "svg.fonttype": "none"})
    columns = min(_COLUMNS, len(streams))
    lines = -(-len(streams) // columns)
    figure, grid = plt.subplots(
        lines, columns, figsize=(4.6 * columns, 3.4 * lines + 0.7), squeeze=False, layout="constrained"
    )
    for axes, (name, stream) in zip(grid.flat, streams.items(), strict=False):
        _panel(axes, name, stream)
    for axes in grid.flat[len(streams) :]:
        axes.set_visible(False)
    figure.supxlabel("events a second, by the tool's own clock without its start (→ faster)")
    figure.supylabel("error, % (↓ better)")
    figure.suptitle("Every configuration a point; named is each tool's best. Hollow: not test-then-train.", fontsize=9)
    figure.savefig(target, metadata={"Date": None})


def _panel(axes: Any, name: str, stream: dict[str, Any]) -> None:
    axes.set_title(f"{name}: {stream['events']:,} events, {stream['labels']} labels", fontsize=9)
    axes.set(xscale="log", yscale="log")
    axes.grid(alpha=0.3)
    for tool, (marker, colour) in _MARKS.items():
        points = [(rate(row), _error(row), row["name"]) for row in stream["rows"] if row["tool"] == tool]
        xs, ys, _ = zip(*points, strict=True)
        _, error, best = min(points, key=lambda point: point[1])
        filled = "none" if tool == "scikit-learn" else colour
        label = f"{tool}: {best.removesuffix(', batches of 1,000')}, {error:.2f} %"
        axes.scatter(xs, ys, s=22, marker=marker, facecolors=filled, edgecolors=colour, alpha=0.8, label=label)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(LogFormatter())
    axes.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1.5, 0.5)))
    axes.tick_params(axis="y", which="both", labelsize=7)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2, fontsize=6, frameon=False, columnspacing=1)


def _error(row: dict[str, Any]) -> float:
    """Error in per cent; at least half an event, for the logarithm."""
    wrong = row["score"]["events"] - row["score"]["right"]
    return 100 * max(wrong, 0.5) / row["score"]["events"]


if __name__ == "__main__":
    main()
