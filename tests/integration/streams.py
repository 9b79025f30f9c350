"""Input files of runs, and reading what runs have written."""

import gzip
import json
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import zstandard

from streamlin.checkpoint.file import CURRENT, load

BAD = [b'{"text": 1}', b"not JSON", b'{"text": "a", "weight": -1}', b"\xff\xfe", b'{"label": "ham"}']


def write_lines(path: Path, events: Iterable[Any]) -> Path:
    """Write a file of JSON lines; bytes are written as they are."""
    lines = (event if isinstance(event, bytes) else json.dumps(event, ensure_ascii=False).encode() for event in events)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def real_events(path: Path, n: int) -> list[dict[str, Any]]:
    """The first events of a `.jsonl.gz`."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        return [json.loads(line) for line in islice(lines, n)]


def roughened(events: Sequence[dict[str, Any]]) -> list[Any]:
    """A real stream with hidden labels, weights, empty texts, missing ids and invalid records."""
    stream: list[Any] = []
    for number, event in enumerate(map(dict, events)):
        if number % 13 == 5:
            event["label"] = None
        if number % 17 == 3:
            event["weight"] = number % 4 / 2
        if number % 31 == 7:
            del event["id"]
        if number % 97 == 11:
            event["text"] = ""
        stream.append(event)
        if number % 29 < 2:
            stream.append(BAD[number % len(BAD)])
    return stream


def content(path: Path) -> bytes:
    """The bytes of a file, decompressed if its suffix says so."""
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    if path.suffix == ".zst":
        decoder = zstandard.ZstdDecompressor()
        return bytes(decoder.stream_reader(path.read_bytes(), read_across_frames=True).read())
    return path.read_bytes()


def json_lines(path: Path) -> list[Any]:
    """The values of a file of JSON lines."""
    return [json.loads(line) for line in content(path).splitlines()]


def measured(report: Path) -> dict[str, Any]:
    """A report without its times, and without what says where it was learned."""
    whole: dict[str, Any] = json.loads(report.read_text())
    del whole["seconds"], whole["events_per_second"]
    whole.pop("workers", None)
    return whole


def assert_same_state(folder: Path, other: Path, places: bool = True) -> None:
    """Both checkpoints hold the same arrays, bit for bit, labels and counts; with `places`, also positions."""
    (arrays, state), (other_arrays, other_state) = load(folder), load(other)
    assert arrays.keys() == other_arrays.keys()
    for name, array in arrays.items():
        twin = other_arrays[name]
        assert (array.dtype, array.shape) == (twin.dtype, twin.shape), name
        assert array.tobytes() == twin.tobytes(), name
    for key in ("labels", "evaluation", "fingerprint", *(["positions"] if places else [])):
        assert state[key] == other_state[key]


def events_kept(state: Path) -> int:
    """The number of events in the checkpoint of a folder; 0 if there is no checkpoint yet."""
    return int(load(state)[1]["evaluation"]["events"]) if (state / CURRENT).exists() else 0
