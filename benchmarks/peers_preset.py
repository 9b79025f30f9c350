"""What the members of the preset `accurate` are worth, and how right it stays where it learns no more.

"Fewer errors" is the mean over the real streams of 1 − errors / errors of VW's best of five configurations. "Frozen" is
the test slice, predicted after one pass over the rest; "going on" learns there, too, as in a stream.
"""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.accuracy import OPTIONS
from benchmarks.peer_scores import vw_score
from benchmarks.peer_streams import Stream, prepared, raw
from benchmarks.peer_tools import ALL_MEMBERS, VW, VW_BITS
from benchmarks.peers_accuracy import QUICK, REAL
from benchmarks.processes import log, reported, run_module, streamlin
from benchmarks.tables import marked, percent, table
from tests.locations import DATA


def measure(folder: Path, repeat: int, quick: bool) -> dict[str, Any]:
    """Stream -> what is right of its events."""
    found: dict[str, Any] = {}
    for name in QUICK if quick else REAL:
        source = DATA / f"{name}.jsonl.gz"
        if not source.is_file():
            log(f"{name}: skipped, not found in {DATA}")
            continue
        log(f"{name}:")
        with tempfile.TemporaryDirectory(dir=folder) as own:
            found[name] = _measured(name, source, Path(own))
    return found


def _measured(name: str, source: Path, folder: Path) -> dict[str, Any]:
    options = OPTIONS.get(name, [])
    tokens = "whitespace" if options else "words"
    stream = prepared(source, folder, tokens)
    vw = {config: vw_score(stream, f"-b {VW_BITS} {more}") for config, more in VW.items()}
    _, ours = run_module("peer_members", str(raw(stream).path), tokens)
    tested = ours["scores"][ALL_MEMBERS]["test"] is not None
    return {"vw": vw, **ours} | ({"frozen": _frozen(raw(stream), folder, options)} if tested else {})


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
        for name in streams[0]["scores"]
    ]
    titles = ["member", f"alone, mean of {len(streams)} streams", "without it, fewer errors than VW's best, mean %"]
    return table([*titles, "worst stream"], rows)


def _alone(stream: Mapping[str, Any], name: str) -> float:
    return _share(stream["scores"][ALL_MEMBERS]) if name == ALL_MEMBERS else stream["alone"][name]


def _fewer(streams: Sequence[Mapping[str, Any]], without: str) -> list[str]:
    """1 − errors / errors of VW's best, by how much fewer: the mean, and the worst stream."""
    fewer = [
        1 - _wrong(stream["scores"][without]) / min(_wrong(score) for score in stream["vw"].values())
        for stream in streams
    ]
    return [percent(mean(fewer)), percent(min(fewer))]


def _frozen_table(figures: dict[str, Any]) -> str:
    rows = []
    for name, stream in figures.items():
        frozen, svm = stream["frozen"]["ours"], stream["frozen"]["svm"]
        shares = [_share(frozen), _share(stream["scores"][ALL_MEMBERS]["test"]), _share(svm)]
        how = f"({svm['tokens']}, C = {svm['c']:g})"
        rows.append([name, f"{frozen['events']:,}", *map(percent, shares[:2]), f"{percent(shares[2])} {how}"])
    return table(["test slice", "events", "frozen", "going on", "linear SVM, tuned on the test"], rows)


def _share(score: Mapping[str, int]) -> float:
    return score["right"] / score["events"]


def _wrong(score: Mapping[str, int]) -> int:
    return score["events"] - score["right"]
