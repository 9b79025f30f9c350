"""The preset `accurate`, with all members and without each, in its own process.

`python -m benchmarks.peer_members STREAM TOKENS` prints what is right of the stream, test-then-train, and how accurate
each member is alone. TOKENS are those of the view `words`.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.peer_events import counted, read
from benchmarks.peer_tools import ALL_MEMBERS
from streamlin import Pipeline
from streamlin.config.presets import PRESETS


def main() -> None:
    path, tokens = sys.argv[1:]
    events, scores, alone = read(path), {}, dict[str, float]()
    for without, tables in _configurations(tokens):
        pipeline = Pipeline(**tables)
        predicted = [prediction.predicted for prediction in pipeline.run(path)]
        scores[without] = counted(events, [p == event.label for p, event in zip(predicted, events, strict=True)])
        if without == ALL_MEMBERS:
            alone = {name: row["accuracy"] for name, row in pipeline.metrics["learners"].items()}
    print(json.dumps({"scores": scores, "alone": alone}))


def _configurations(tokens: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The name of the member that is left out, and the tables without it and the views that no other one has."""
    preset = PRESETS["accurate"]
    *members, mixture = preset["learners"]
    views = preset["features"] | {"words": preset["features"]["words"] | {"tokens": tokens}}
    for without in (None, *members):
        kept = [member for member in members if member is not without]
        start = [share for member, share in zip(members, mixture["start"], strict=True) if member is not without]
        names, own_views = {*map(_name, kept)}, {view for member in kept for view in _views(member)}
        variances = {name: variance for name, variance in mixture["first_variances"].items() if name in names}
        yield (
            ALL_MEMBERS if without is None else _name(without),
            {
                "features": {view: keys for view, keys in views.items() if view in own_views},
                "learners": [*kept, mixture | {"start": start, "first_variances": variances}],
            },
        )


def _name(member: Mapping[str, Any]) -> str:
    name: str = member.get("name", member["kind"])
    return name


def _views(member: Mapping[str, Any]) -> list[str]:
    views = member.get("features", "words")
    return [views] if isinstance(views, str) else views


if __name__ == "__main__":
    main()
