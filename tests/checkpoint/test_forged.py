"""Checkpoints with a right checksum that hold what no run has written: each is refused, by every command."""

import json
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from streamlin.checkpoint.file import CURRENT, load
from streamlin.checkpoint.layout import write
from streamlin.errors import CheckpointError
from streamlin.pipeline import Pipeline
from tests.command_line import command_line, refused
from tests.integration.processes import refused_by_process

Arrays = dict[str, NDArray[Any]]
State = dict[str, Any]
EVENTS = 120
LEARNERS = ("--learner", "naive_bayes", "--learner", "sgd")
KINDS: dict[str, tuple[str, ...]] = {
    "plain": (*LEARNERS, "--set", "features.names=200"),
    "mixture": (*LEARNERS, "--learner", "mixture", "--set", "features.words.min_count=2"),
    "late": (*LEARNERS, "--late-labels", "--slice-by", "half", "--set", "evaluation.drift=kswin"),
    "delay": (*LEARNERS, "--label-delay", "10"),
    "measures": (*LEARNERS, "--set", "evaluation.novelty=true", "--set", "surprise.model=kneser_ney"),
}


def events(n: int) -> Iterator[dict[str, Any]]:
    """Some without a label, some of which come later."""
    for i in range(n):
        given = {"text": f"w{i % 7} w{i % 3} w{i}", "id": str(i), "half": f"h{i % 3}"}
        yield given if i % 3 == 0 else given | {"label": f"l{i % 4}"}
        if i % 6 == 0 and i > 20:
            yield {"id": str(i - 12), "label": "l1"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A checkpoint of each of `KINDS`, and the stream that they are of."""
    folder = tmp_path_factory.mktemp("whole")
    stream = folder / "stream.jsonl"
    stream.write_text("".join(json.dumps(event) + "\n" for event in events(EVENTS)))
    for kind, options in KINDS.items():
        command_line("run", stream, "--checkpoint", folder / kind, "--dead-letters", "null://", *options)
    return {kind: folder / kind for kind in KINDS} | {"stream": stream}


def forged(folder: Path, arrays: Arrays, state: State) -> Path:
    """A checkpoint with a right checksum."""
    folder.mkdir(exist_ok=True)
    with (folder / CURRENT).open("wb") as file:
        write(file, arrays, state)
    return folder


def assert_refused(folder: Path, kind: str, stream: Path) -> str:
    """Both who reads it and who would go on with it end with one line and exit code 4."""
    line = refused("inspect", folder, code=4)
    options = ("--checkpoint", folder, "--dead-letters", "null://", *KINDS[kind])
    run = command_line("run", stream, *options, code=4)
    assert run.err.count("\n") == 1
    return line if "delayed" not in run.err else run.err


@pytest.mark.parametrize("kind", KINDS)
def test_every_array_of_another_name_type_or_shape_is_refused(
    folders: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    arrays, state = load(folders[kind])
    for name, array in arrays.items():
        rest = {other: arrays[other] for other in arrays if other != name}
        changed = [rest, rest | {name: array.astype(np.float32 if array.dtype != np.float32 else np.int32)}]
        changed.append(rest | {name: array[np.newaxis]})
        if array.ndim > 1 and array.shape != array.T.shape:
            changed.append(rest | {name: np.ascontiguousarray(array.T)})
        for one in changed:
            with pytest.raises(CheckpointError, match=r"array|names"):
                resume(forged(tmp_path, one, state), KINDS[kind], folders["stream"])
    assert "'x', which its configuration" in assert_refused(
        forged(tmp_path, arrays | {"x": np.zeros(3)}, state), kind, folders["stream"]
    )


def resume(folder: Path, given: Sequence[str], stream: Path) -> None:
    """Load it as the run that wrote it would, in this process, without the cost of a command."""
    from streamlin.checkpoint.run_state import RunState
    from streamlin.config.loading import load_config

    flags = {"checkpoint.path": str(folder), "source.url": str(stream)}
    learners = [given[i + 1] for i, word in enumerate(given) if word == "--learner"]
    settings = [given[i + 1] for i, word in enumerate(given) if word == "--set"]
    flags |= {
        "evaluation.slice_by": ["half"] if "--slice-by" in given else None,
        "delayed_labels.enabled": "--late-labels" in given or None,
        "delayed_labels.delay": 10 if "--label-delay" in given else None,
        "task": "tagging" if "tagging" in given else None,
    }
    RunState(load_config(None, flags, settings, learners)).close()


def test_arrays_of_sentences_that_wait_are_refused_in_another_form(tmp_path: Path) -> None:
    """Of another name, type or shape; as those of texts."""
    lines: list[dict[str, Any]] = [{"id": str(i), "tokens": ["a", "b"]} for i in range(4)]
    lines += [{"id": "1", "tags": ["X", None]}, {"id": "9", "tags": ["Y"]}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = ("--task", "tagging", "--learner", "hmm", "--late-labels")
    run = ("run", tmp_path / "in.jsonl", *options, "--checkpoint")
    command_line(*run, tmp_path / "state")
    arrays, state = load(tmp_path / "state")
    late = {name: array for name, array in arrays.items() if name.startswith("delayed_labels/")}
    assert late["delayed_labels/waiting/predicted"].size == 3 * 3 * 2
    for name, array in late.items():
        rest = {other: arrays[other] for other in arrays if other != name}
        other = np.float32 if array.dtype != np.float32 else np.int32
        for changed in (rest, rest | {name: array.astype(other)}, rest | {name: array[np.newaxis]}):
            folder = forged(tmp_path / "forged", changed, state)
            with pytest.raises(CheckpointError):
                resume(folder, options, tmp_path / "in.jsonl")
    del state["delayed_labels"]["counts"]["wrong_length"]
    folder = forged(tmp_path / "forged", arrays, state)
    assert "lacks its clock or counts" in refused(*run, folder, code=4)


def out_of_bounds() -> dict[str, tuple[str, str, Callable[[NDArray[Any]], Any]]]:
    """What is wrong -> kind of checkpoint, array, and its values from the right ones."""
    billion = 10**9
    return {
        "bucket": ("plain", "rows/words", lambda a: np.full_like(a, billion)),
        "bucket twice": ("plain", "rows/words", lambda a: np.full_like(a, 3)),
        "negative bucket": ("plain", "rows/words", lambda a: -1 - a),
        "sighting": ("mixture", "sightings/words", lambda a: np.full_like(a, billion)),
        "clock": ("plain", "learners/sgd/clock", lambda a: np.full_like(a, -1)),
        "last label": ("plain", "evaluation/baselines/last", lambda a: np.full_like(a, billion)),
        "label": ("plain", "evaluation/accuracy/window_labels", lambda a: np.full_like(a, billion)),
        "negative label": ("plain", "evaluation/accuracy/window_labels", lambda a: np.full_like(a, -1)),
        "prediction": ("plain", "evaluation/accuracy/window_predicted", lambda a: np.full_like(a, billion)),
        "hits": ("plain", "evaluation/accuracy/correct", lambda a: np.full_like(a, billion)),
        "count": ("plain", "evaluation/accuracy/count", lambda a: np.full_like(a, -7)),
        "curve": ("plain", "evaluation/accuracy/progress", lambda a: np.array([1, 600, 599])),
        "waiting errors": ("plain", "evaluation/drift/numbers", lambda a: np.full_like(a, 10**12)),
        "sizes in use": ("plain", "evaluation/drift/numbers", lambda a: a + np.array([0, 0, 0, 40])),
        "buckets of a size": ("plain", "evaluation/drift/counts", lambda a: np.full_like(a, 6)),
        "ends of names": ("plain", "names/words/ends", lambda a: a[::-1].copy()),
        "ends beyond names": ("plain", "names/words/ends", lambda a: a + 5),
        "names": ("plain", "names/words/octets", lambda a: np.full_like(a, 255)),
        "lengths of ids": ("late", "delayed_labels/waiting/ids_lengths", lambda a: np.full_like(a, 10**15)),
        "shorter ids": ("late", "delayed_labels/waiting/ids_lengths", lambda a: a - 1),
        "pieces": ("late", "delayed_labels/waiting/pieces", lambda a: np.full_like(a, 2**62)),
        "weights": ("late", "delayed_labels/waiting/weights", lambda a: np.full_like(a, np.nan)),
        "known labels": ("late", "delayed_labels/waiting/known", lambda a: np.full_like(a, billion)),
        "baselines": ("late", "delayed_labels/waiting/baselines", lambda a: np.full_like(a, billion)),
        "texts": ("late", "delayed_labels/waiting/texts", lambda a: np.full_like(a, 255)),
        "early labels": ("late", "delayed_labels/early/weights", lambda a: np.append(a, 1.0)),
        "errors": ("late", "evaluation/drift/errors", lambda a: np.full_like(a, -billion)),
        "held back": ("delay", "delayed_labels/known", lambda a: a + 1),
    }


@pytest.mark.parametrize("what", out_of_bounds())
def test_values_that_kernels_would_take_as_indices_are_refused(
    folders: dict[str, Path], tmp_path: Path, what: str
) -> None:
    kind, name, values = out_of_bounds()[what]
    arrays, state = load(folders[kind])
    changed = values(arrays[name]).astype(arrays[name].dtype)
    assert changed.tobytes() != arrays[name].tobytes()
    with pytest.raises(CheckpointError) as refusal:
        resume(forged(tmp_path, arrays | {name: changed}, state), KINDS[kind], folders["stream"])
    assert "\n" not in str(refusal.value)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value; the first two of a list."""
    if path:
        yield path
    for key, inner in (
        value.items() if isinstance(value, dict) else enumerate(value[:2] if isinstance(value, list) else ())
    ):
        yield from places(inner, (*path, key))


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_of_other_types_is_refused_or_harmless(folders: dict[str, Path], tmp_path: Path, kind: str) -> None:
    """Each place in it becomes something else; a position in the source that is of another type, too."""
    arrays, state = load(folders[kind])
    refusals = 0
    for place in places(state):
        for other in (-1, 10**30, "x", [[1]], None):
            changed = json.loads(json.dumps(state))
            inner = changed
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = other
            refusals += is_refused(forged(tmp_path, arrays, changed), kind, folders["stream"])
    assert refusals > 100


def is_refused(folder: Path, kind: str, stream: Path) -> bool:
    """Whether it is refused, which takes one line; any other error than that is raised."""
    try:
        resume(folder, KINDS[kind], stream)
    except CheckpointError as refusal:
        return "\n" not in str(refusal)
    return False


@pytest.mark.parametrize("key", ["offset", "device", "inode", "before"])
@pytest.mark.parametrize("value", [-5, 10**30, "zz", [1], None])
def test_positions_of_other_types_are_refused_or_of_another_file(
    folders: dict[str, Path], tmp_path: Path, key: str, value: object
) -> None:
    """A command goes on, since a file is known by its bytes, or ends with one line and exit code 4."""
    arrays, state = load(folders["plain"])
    (source,) = state["positions"].values()
    (position,) = source.values()
    position[key] = value
    folder = forged(tmp_path / "state", arrays, state)
    done = command_line("run", folders["stream"], "--checkpoint", folder, *KINDS["plain"], code=None)
    assert done.code in (0, 4)
    if done.code == 4:
        assert done.err.count("\n") == 1


def test_lengths_of_outputs_are_checked(folders: dict[str, Path], tmp_path: Path) -> None:
    arrays, state = load(folders["plain"])
    for length in (-1, "x", [1]):
        forged(tmp_path, arrays, state | {"sinks": {"file:///x": length}})
        assert "sinks" in assert_refused(tmp_path, "plain", folders["stream"])


def with_header(path: Path, table: dict[str, Any], state: str, size: int) -> None:
    """A file of a header with a right checksum, if all that follows is NULs; they take no place on the disk."""
    about = {"format": "streamlin", "version": "1", "state": state}
    checksum = zlib.crc32(json.dumps([table, about], sort_keys=True).encode())
    header = json.dumps({"__metadata__": about | {"crc32": f"{checksum:08x}"}} | table).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    os.truncate(path, 8 + len(header) + size)


@pytest.mark.parametrize("name", ["rows/words", "learners/naive_bayes/counts", "names/words/octets", "x"])
def test_an_array_larger_than_memory_is_refused_before_it_is_read(
    folders: dict[str, Path], tmp_path: Path, name: str
) -> None:
    """Twice as much, which is not on the disk: the file is as long as its header says."""
    _, state = load(folders["plain"])
    size = 2 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    table = {name: {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}
    with_header(tmp_path / CURRENT, table, json.dumps(state), size)
    line = refused_by_process("inspect", tmp_path, code=4)
    assert "GiB" in line


def test_arrays_that_overlap_or_leave_gaps_are_refused(tmp_path: Path) -> None:
    for offsets in ([-8, 0], [8, 16], [0, -8], [0, True], [0.0, 8.0], [0, 8, 16]):
        table = {"x": {"dtype": "F64", "shape": [1], "data_offsets": offsets}}
        with_header(tmp_path / CURRENT, table, "{}", 16)
        with pytest.raises(CheckpointError, match="damaged"):
            load(tmp_path)


def test_a_pipeline_refuses_them_too(folders: dict[str, Path], tmp_path: Path) -> None:
    arrays, state = load(folders["plain"])
    folder = forged(tmp_path, arrays | {"rows/words": np.full_like(arrays["rows/words"], 10**9)}, state)
    with pytest.raises(CheckpointError, match="rows/words has"):
        Pipeline.load(folder)
    with closing(Pipeline.load(folders["plain"])) as pipeline:
        assert pipeline.metrics["events"] > 0


WAITING = ("--late-labels", "--set", "delayed_labels.store=disk", "--learner", "perceptron")


@pytest.fixture
def waiting(tmp_path: Path) -> Path:
    """A checkpoint whose texts wait in a database, one of which gets its label next."""
    stream = tmp_path / "stream.jsonl"
    stream.write_text("".join(json.dumps({"text": f"a{i}", "id": str(i)}) + "\n" for i in range(20)))
    command_line("run", stream, "--checkpoint", tmp_path / "state", *WAITING)
    with stream.open("a") as file:
        file.write('{"id": "3", "label": "x"}\n{"text": "a", "id": "z", "label": "x"}\n')
    return tmp_path


def kept(**other: Any) -> bytes:
    """What the database keeps of a text."""
    text = {"texts": ["a3"], "extra": [], "weight": 1.0, "time": None, "number": 4, "known": 0, "scores": b""}
    return msgspec.msgpack.encode(list((text | {"baselines": np.array([-1, -1], np.int32).tobytes()} | other).values()))


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        b"\xff" * 30,
        kept(texts=[1]),
        kept(number=-1),
        kept(weight="x"),
        kept(known=10**9),
        kept(weight=-1.0),
        kept(scores=bytes(24)),
        kept(baselines=np.array([10**9, 0], np.int32).tobytes()),
        kept(baselines=b"x"),
    ],
)
def test_forged_texts_that_wait_on_disk_are_refused(waiting: Path, blob: bytes) -> None:
    with closing(sqlite3.connect(waiting / "state" / "waiting.sqlite3")) as database, database:
        database.execute("UPDATE waiting SET kept = ? WHERE id = '3'", (blob,))
    done = command_line("run", waiting / "stream.jsonl", "--checkpoint", waiting / "state", *WAITING, code=4)
    assert "id '3'" in done.err


@pytest.mark.parametrize("content", [b"no database", bytes(8192)])
def test_a_damaged_database_of_waiting_texts_is_refused(waiting: Path, content: bytes) -> None:
    state = waiting / "state"
    for path in state.glob("waiting.sqlite3*"):
        path.unlink()
    (state / "waiting.sqlite3").write_bytes(b"SQLite format 3\0" + content)
    assert "waiting.sqlite3 is damaged: " in refused(
        "run", waiting / "stream.jsonl", "--checkpoint", state, *WAITING, code=4
    )
