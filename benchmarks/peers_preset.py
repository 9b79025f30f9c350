"""What the members of the preset `accurate` are worth, and how right it stays where it learns no more.

"Fewer errors" is the mean over the real streams of 1 − errors / errors of VW's best of five configurations. "Frozen" is
the test slice, predicted after one pass over the rest; "going on" learns there, too, as in a stream.
"""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.accuracy import OPTIONS
from benchmarks.peer_scores import streamlin_score, vw_score
from benchmarks.peer_streams import Stream, prepared, raw
from benchmarks.peer_tools import VW, VW_BITS
from benchmarks.peers_accuracy import QUICK, REAL
from benchmarks.processes import log, reported, run_module, streamlin
from benchmarks.tables import marked, percent, table
from streamlin.config.presets import PRESETS
from tests.locations import DATA

_ALL = "all members"


def measure(folder: Path, repeat: int, quick: bool) -> dict[str, Any]:
    """Stream -> what is right of its events; streams whose data are missing are left out."""
    found: dict[str, Any] = {}
    for name in QUICK if quick else REAL:
        if (source := DATA / f"{name}.jsonl.gz").is_file():
            log(f"{name}:")
            with tempfile.TemporaryDirectory(dir=folder) as own:
                found[name] = _measured(name, source, Path(own))
    return found


def _measured(name: str, source: Path, folder: Path) -> dict[str, Any]:
    options = OPTIONS.get(name, [])
    stream = prepared(source, folder, "whitespace" if options else "words")
    vw = {config: vw_score(stream, f"-b {VW_BITS} {more}") for config, more in VW.items()}
    whole, scores, alone = raw(stream), {}, {}
    for without, tables in _configurations():
        config = folder / "config.toml"
        config.write_text(_toml(tables), encoding="utf-8")
        own = options if "words" in tables["features"] else []
        scores[without] = streamlin_score(whole, folder, ("--config", str(config), *own))
        if without == _ALL:
            report = json.loads((folder / "report.json").read_bytes())
            alone = {learner: row["accuracy"] for learner, row in report["learners"].items()}
    tested = scores[_ALL]["test"] is not None
    return {"vw": vw, "ours": scores, "alone": alone} | ({"frozen": _frozen(whole, folder, options)} if tested else {})


def _configurations() -> Iterator[tuple[str, dict[str, Any]]]:
    """The preset, and the preset without each of its members and the views that no other one has."""
    preset = PRESETS["accurate"]
    *members, mixture = preset["learners"]
    for without in (None, *range(len(members))):
        kept = [place for place in range(len(members)) if place != without]
        start = [mixture["start"][place] for place in kept]
        variances = {name: own for name, own in mixture["first_variances"].items() if name in _names(members, kept)}
        learners = [*(members[place] for place in kept), mixture | {"start": start, "first_variances": variances}]
        views = {view for place in kept for view in _views(members[place])}
        features = {view: own for view, own in preset["features"].items() if view in views}
        tables = {"task": preset["task"], "features": features, "learners": learners}
        yield _ALL if without is None else _names(members, [without])[0], tables


def _names(members: Sequence[Mapping[str, Any]], places: Sequence[int]) -> list[str]:
    return [members[place].get("name", members[place]["kind"]) for place in places]


def _views(member: Mapping[str, Any]) -> list[str]:
    views = member.get("features", "words")
    return [views] if isinstance(views, str) else list(views)


def _toml(tables: Mapping[str, Any]) -> str:
    """Tables as TOML, each in one line."""
    return "".join(f"{key} = {_value(value)}\n" for key, value in tables.items())


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key} = {_value(own)}' for key, own in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value)


def _frozen(stream: Stream, folder: Path, options: Sequence[str]) -> dict[str, Any]:
    """The test slice, by the preset that has learned the rest once, and by a linear SVM that was tuned on it."""
    train, test, state = folder / "train.jsonl", folder / "test.jsonl", folder / "state"
    lines = stream.path.read_bytes().splitlines(keepends=True)
    tested = [json.loads(line).get("split") == "test" for line in lines]
    for path, wanted in ((train, False), (test, True)):
        path.write_bytes(b"".join(line for line, found in zip(lines, tested, strict=True) if found is wanted))
    reported(folder, str(train), "--preset=accurate", *options, "--checkpoint", str(state))
    streamlin("predict", str(state), str(test), "--predictions", f"{folder}/predictions.jsonl?mode=overwrite")
    _, ours = run_module("peer_events", str(test), str(folder / "predictions.jsonl"))
    _, theirs = run_module("peer_svm", str(train), str(test))
    return {"ours": ours, "svm": theirs}


def text(figures: dict[str, Any]) -> str:
    """A table of the members, and one of the test slices."""
    frozen = {name: stream for name, stream in figures.items() if "frozen" in stream}
    pieces = [marked("peers-members", _members_table(figures))]
    return "\n\n".join([*pieces, *([marked("peers-frozen", _frozen_table(frozen))] if frozen else [])])


def _members_table(figures: dict[str, Any]) -> str:
    streams = list(figures.values())
    rows = [
        [name, percent(mean(_alone(stream, name) for stream in streams)), *_fewer(streams, name)]
        for name in streams[0]["ours"]
    ]
    titles = ["member", f"alone, mean of {len(streams)} streams", "without it, fewer errors than VW's best, mean %"]
    return table([*titles, "worst stream"], rows)


def _alone(stream: Mapping[str, Any], name: str) -> float:
    return _share(stream["ours"][_ALL]) if name == _ALL else stream["alone"][name]


def _fewer(streams: Sequence[Mapping[str, Any]], without: str) -> list[str]:
    """1 − errors / errors of VW's best, by how much fewer: the mean, and the worst stream."""
    fewer = [
        1 - _wrong(stream["ours"][without]) / min(_wrong(score) for score in stream["vw"].values())
        for stream in streams
    ]
    return [percent(mean(fewer)), percent(min(fewer))]


def _frozen_table(figures: dict[str, Any]) -> str:
    rows = []
    for name, stream in figures.items():
        frozen, svm = stream["frozen"]["ours"], stream["frozen"]["svm"]
        shares = [_share(frozen), _share(stream["ours"][_ALL]["test"]), _share(svm)]
        how = f"({svm['tokens']}, C = {svm['c']:g})"
        rows.append([name, f"{frozen['events']:,}", *map(percent, shares[:2]), f"{percent(shares[2])} {how}"])
    return table(["test slice", "events", "frozen", "going on", "linear SVM, tuned on the test"], rows)


def _share(score: Mapping[str, int]) -> float:
    return score["right"] / score["events"]


def _wrong(score: Mapping[str, int]) -> int:
    return score["events"] - score["right"]
