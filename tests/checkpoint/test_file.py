"""One atomic file: round trips, damage, kills, locks, full disks."""

import errno
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray

from streamlin.checkpoint.differing import differing
from streamlin.checkpoint.file import CURRENT, PREVIOUS, Checkpoint, load
from streamlin.checkpoint.layout import read, write
from streamlin.errors import CheckpointError, ConnectorError

DEADLINE = 180.0
Arrays = dict[str, NDArray[Any]]

kinds = st.sampled_from([np.float64, np.float32, np.int64, np.int32, np.bool_])
any_array = kinds.flatmap(lambda kind: arrays(kind, array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
tables = st.dictionaries(st.text(max_size=8).filter(lambda name: name != "__metadata__"), any_array, max_size=4)


def saved(number: int) -> tuple[Arrays, dict[str, Any]]:
    return {"a": np.full((3, 2), number, np.float64), "b": np.arange(number, number + 5, dtype=np.int32)}, {"n": number}


def assert_same(ours: Arrays, theirs: Arrays) -> None:
    assert list(ours) == list(theirs)
    for name, array in ours.items():
        assert (array.dtype, array.shape) == (theirs[name].dtype, theirs[name].shape)
        assert array.tobytes() == theirs[name].tobytes(), name


@given(tables, st.dictionaries(st.text(), json_values, max_size=4))
@example({"scalar": np.array(2.5), "empty": np.zeros((0, 7), np.int32)}, {"labels": ["\ud83d", "日本", '"\\']})
def test_arrays_and_state_survive_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory, table: Arrays, state: dict[str, Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "round-trip"
    with path.open("wb") as file:
        write(file, table, state)
    found, found_state = read(path)
    assert_same(found, table)
    assert found_state == state


def test_views_of_larger_tables_are_saved(tmp_path: Path) -> None:
    """Learners hold tables with spare rows and columns; some are larger than what is written at once."""
    whole = np.arange(2_000_000, dtype=np.float64).reshape(1000, 2000)
    table = {
        "corner": whole[:700, :1999],
        "transposed": whole[:30, :40].T,
        "every other": whole[::2, ::-3],
        "column": whole[:, 5],
        "bits": (whole > 7)[:, 3:10],
    }
    with closing(Checkpoint(tmp_path)) as checkpoint:
        checkpoint.save(table, {})
        assert_same(checkpoint.load()[0], table)


def test_the_layout_is_that_of_safetensors(tmp_path: Path) -> None:
    """8 bytes length, little-endian; JSON; the arrays' bytes one after the other, at the offsets in the JSON."""
    table = {
        "weights": np.array([[1.5, -2.0], [0.25, 3.0]], np.float32),
        "counts": np.array([1, 2, 3]),
        "flags": np.array([True, False, True]),
        "none": np.zeros((0, 4), np.int32),
        "sums": np.array([0.1]),
    }
    path = tmp_path / "x.safetensors"
    with path.open("wb") as file:
        write(file, table, {"number": 7})
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    assert length % 8 == 0
    header, data = json.loads(content[8 : 8 + length].decode()), content[8 + length :]
    about = header.pop("__metadata__")
    assert all(isinstance(value, str) for value in about.values())
    assert (about["format"], json.loads(about["state"])) == ("streamlin", {"number": 7})
    assert {name: entry["dtype"] for name, entry in header.items()} == {
        "weights": "F32",
        "counts": "I64",
        "flags": "BOOL",
        "none": "I32",
        "sums": "F64",
    }
    at = 0
    for name, array in table.items():
        begin, end = header[name]["data_offsets"]
        assert begin == at
        assert header[name]["shape"] == list(array.shape)
        assert data[begin:end] == array.tobytes()
        at = end
    assert at == len(data)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    with closing(Checkpoint(tmp_path)) as checkpoint:
        checkpoint.save({"a": np.arange(3, dtype=np.int32), "b": np.array([0.5, 1e9])}, {"labels": ["x", "y"], "n": 3})
    return tmp_path / CURRENT


def test_every_flipped_bit_is_detected(small: Path) -> None:
    content = small.read_bytes()
    for position in range(len(content)):
        for bit in range(8):
            small.write_bytes(content[:position] + bytes([content[position] ^ 1 << bit]) + content[position + 1 :])
            with pytest.raises(CheckpointError):
                load(small.parent)
    small.write_bytes(content)
    load(small.parent)


def test_a_changed_byte_is_detected_or_harmless(small: Path) -> None:
    """A line feed instead of a blank in the header leaves the JSON equal; any other change is damage."""
    content, expected = small.read_bytes(), load(small.parent)
    chance = random.Random(0)
    for position in range(len(content)):
        for byte in chance.sample(sorted(set(range(256)) - {content[position]}), 12):
            small.write_bytes(content[:position] + bytes([byte]) + content[position + 1 :])
            try:
                found, state = load(small.parent)
            except CheckpointError:
                continue
            assert content[position : position + 1].isspace()
            assert state == expected[1]
            assert_same(found, expected[0])


def test_every_truncation_and_addition_is_detected(small: Path) -> None:
    content = small.read_bytes()
    for length in range(len(content)):
        small.write_bytes(content[:length])
        with pytest.raises(CheckpointError, match="damaged"):
            load(small.parent)
    for more in (b"\0", b" ", content):
        small.write_bytes(content + more)
        with pytest.raises(CheckpointError, match="damaged"):
            load(small.parent)


@settings(max_examples=300)
@given(st.binary(max_size=200), st.booleans())
def test_arbitrary_bytes_are_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes, framed: bool) -> None:
    path = tmp_path_factory.getbasetemp() / "any-bytes"
    path.write_bytes(len(data).to_bytes(8, "little") + data if framed else data)
    with pytest.raises(CheckpointError):
        read(path)


def refusal(folder: Path, header: Any, data: bytes = b"") -> str:
    """The message about a file with this header."""
    text = json.dumps(header).encode()
    (folder / CURRENT).write_bytes(len(text).to_bytes(8, "little") + text + data)
    with pytest.raises(CheckpointError) as error:
        load(folder)
    return str(error.value)


def test_inconsistent_headers_are_refused(tmp_path: Path) -> None:
    about = {"format": "streamlin", "version": "1", "state": "{}", "crc32": "00000000"}
    huge = {"dtype": "F64", "shape": [1 << 40, 1 << 40], "data_offsets": [0, 8]}
    assert "shape" in refusal(tmp_path, {"__metadata__": about, "a": huge}, bytes(8))
    for entry in (
        {"dtype": "F64", "shape": [-1, -1], "data_offsets": [0, 8]},
        {"dtype": "F64", "shape": [1.0], "data_offsets": [0, 8]},
        {"dtype": "U8", "shape": [8], "data_offsets": [0, 8]},
        {"dtype": "F64", "shape": [1]},
        {"dtype": "F64", "shape": [1], "data_offsets": 8},
        [],
    ):
        assert "damaged" in refusal(tmp_path, {"__metadata__": about, "a": entry}, bytes(8))
    assert "checksum" in refusal(tmp_path, {"__metadata__": about})
    assert "damaged" in refusal(tmp_path, [about])
    assert "damaged" in refusal(tmp_path, {"__metadata__": {"format": "streamlin"}})


def test_other_versions_and_other_formats_are_refused(tmp_path: Path) -> None:
    about = {"format": "streamlin", "version": "2", "state": "{}", "crc32": "00000000"}
    assert refusal(tmp_path, {"__metadata__": about}).endswith("has version 2: expected version 1")
    assert "not a streamlin checkpoint" in refusal(tmp_path, {"__metadata__": {"format": "pt"}})
    assert "not a streamlin checkpoint" in refusal(tmp_path, {})


def test_the_previous_checkpoint_is_kept_and_can_be_restored(tmp_path: Path) -> None:
    with closing(Checkpoint(tmp_path)) as checkpoint:
        assert not checkpoint.exists()
        for number in (1, 2, 3):
            checkpoint.save(*saved(number))
        assert checkpoint.exists()
        assert (checkpoint.load()[1]["n"], checkpoint.load(previous=True)[1]["n"]) == (3, 2)
        checkpoint.restore_previous()
        assert (checkpoint.load()[1]["n"], checkpoint.load(previous=True)[1]["n"]) == (2, 2)
        checkpoint.save(*saved(4))
        assert (checkpoint.load()[1]["n"], checkpoint.load(previous=True)[1]["n"]) == (4, 2)
        checkpoint.save(*saved(5))
        assert (checkpoint.load()[1]["n"], checkpoint.load(previous=True)[1]["n"]) == (5, 4)


def test_a_damaged_checkpoint_suggests_a_whole_previous_one(tmp_path: Path) -> None:
    with closing(Checkpoint(tmp_path)) as checkpoint:
        for number in (1, 2):
            checkpoint.save(*saved(number))
    current, previous = tmp_path / CURRENT, tmp_path / PREVIOUS
    current.write_bytes(current.read_bytes()[:-1])
    with pytest.raises(CheckpointError, match=r"cut off; the checkpoint before it is whole: --previous"):
        load(tmp_path)
    assert load(tmp_path, previous=True)[1] == {"n": 1}
    previous.write_bytes(previous.read_bytes()[:-1])
    with pytest.raises(CheckpointError, match=r"cut off$"):
        load(tmp_path)


def test_a_missing_checkpoint_is_reported(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(CheckpointError, match=f"there is no checkpoint in {folder}"):
            load(folder)
        with pytest.raises(CheckpointError, match="there is no checkpoint"):
            load(folder, previous=True)


def test_a_missing_checkpoint_suggests_the_previous_one(tmp_path: Path) -> None:
    with closing(Checkpoint(tmp_path)) as checkpoint:
        for number in (1, 2):
            checkpoint.save(*saved(number))
        (tmp_path / CURRENT).unlink()
        assert checkpoint.exists(), "a run must not silently begin anew"
        with pytest.raises(CheckpointError, match="--previous"):
            checkpoint.load()
        checkpoint.restore_previous()
        assert checkpoint.load()[1] == {"n": 1}


def test_copies_replace_links_on_file_systems_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FAT, for example, which can't be mounted everywhere: the call is made to fail as it does there."""

    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    with closing(Checkpoint(tmp_path)) as checkpoint:
        for number in (1, 2, 3):
            checkpoint.save(*saved(number))
        assert checkpoint.load()[1] == {"n": 3}
        assert checkpoint.load(previous=True)[1] == {"n": 2}


SAVING = """
import sys
import numpy as np
from streamlin.checkpoint.file import Checkpoint
checkpoint, number = Checkpoint(sys.argv[1]), int(sys.argv[2])
print("open", flush=True)
while True:
    number += 1
    checkpoint.save({"a": np.full((500, 40), number, np.float64), "b": np.full(number % 7, number)}, {"n": number})
    print(number, flush=True)
"""


def test_a_kill_at_any_moment_leaves_a_whole_checkpoint(tmp_path: Path) -> None:
    """The checkpoint reported as saved is there, or a newer one; so is a whole previous one."""
    chance, number = random.Random(7), 0
    for _ in range(8):
        with subprocess.Popen(
            [sys.executable, "-c", SAVING, str(tmp_path), str(number)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "open\n"
            time.sleep(chance.uniform(0, 0.05))
            process.kill()
            reported = [number, *map(int, process.stdout.read().split())]
        if reported == [0] and not (tmp_path / CURRENT).exists():
            continue
        found, state = load(tmp_path)
        assert reported[-1] <= state["n"] <= reported[-1] + 1
        number = state["n"]
        assert (found["a"] == number).all()
        assert found["a"].shape == (500, 40)
        assert found["b"].tolist() == [number] * (number % 7)
        if number > 1:
            assert load(tmp_path, previous=True)[1]["n"] in (number - 1, number)
    assert number > 8


HOLDING = """
import sys
from streamlin.checkpoint.file import Checkpoint
checkpoint = Checkpoint(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
"""


def test_the_folder_is_locked_until_its_process_ends(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        with pytest.raises(CheckpointError, match=f"{tmp_path} is in use by another streamlin process") as error:
            Checkpoint(tmp_path)
        assert error.value.exit_code == 4
        process.kill()
        process.wait(DEADLINE)
        Checkpoint(tmp_path).close()


def test_closing_releases_the_lock(tmp_path: Path) -> None:
    first = Checkpoint(tmp_path)
    with pytest.raises(CheckpointError):
        Checkpoint(tmp_path)
    first.close()
    Checkpoint(tmp_path).close()


def test_reading_needs_no_lock_while_another_process_saves(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SAVING, str(tmp_path), "0"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["open\n", "1\n"]
        seen = set()
        deadline = time.monotonic() + DEADLINE
        while len(seen) < 20 and time.monotonic() < deadline:
            found, state = load(tmp_path)
            assert (found["a"] == state["n"]).all()
            assert found["b"].size == state["n"] % 7
            seen.add(state["n"])
        process.kill()
    assert len(seen) == 20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path | None]:
    """A folder on a disk of 256 KiB; None if it can't be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)], check=False, capture_output=True
    )
    if mounted.returncode:
        yield None
        return
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


FILLING = """
import resource, signal, sys
import numpy as np
from streamlin.checkpoint.file import Checkpoint
from streamlin.errors import ConnectorError
checkpoint = Checkpoint(sys.argv[1])
checkpoint.save({"a": np.arange(5)}, {"n": 1})
if sys.argv[2] == "limit":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    checkpoint.save({"a": np.zeros(100_000)}, {"n": 2})
except ConnectorError as error:
    print(error)
print(checkpoint.load()[1], sorted(path.name for path in checkpoint.folder.glob("*.*")))
checkpoint.save({"a": np.arange(6)}, {"n": 3})
"""


def test_a_full_disk_leaves_the_old_checkpoint(small_disk: Path | None, tmp_path: Path) -> None:
    """800 kB on a disk of 256 KiB, or with file sizes limited to 100 kB; the partial file is removed."""
    folder, how = (tmp_path, "limit") if small_disk is None else (small_disk, "disk")
    done = subprocess.run(
        [sys.executable, "-c", FILLING, str(folder), how], capture_output=True, text=True, check=True, timeout=DEADLINE
    )
    reason = "File too large" if small_disk is None else "No space left on device"
    assert done.stdout.splitlines() == [
        f"can't write the checkpoint in {folder}: {reason}",
        f"{{'n': 1}} ['{CURRENT}']",
    ]
    assert load(folder)[1] == {"n": 3}
    assert load(folder, previous=True)[1] == {"n": 1}


UNPRIVILEGED = """
import os, sys
from streamlin.checkpoint.file import Checkpoint, load
from streamlin.errors import StreamlinError
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
os.chdir(sys.argv[1])
for action in (lambda: load("closed"), lambda: Checkpoint("closed"), lambda: Checkpoint("new")):
    try:
        action()
    except StreamlinError as error:
        print(type(error).__name__, error)
"""


def test_permission_denied_is_reported(small: Path) -> None:
    top = small.parent
    (top / "closed").mkdir()
    small.rename(top / "closed" / CURRENT)
    (top / "closed").chmod(0)
    top.chmod(0o555)
    for parent in top.parents[: len(top.parents) - 2]:
        parent.chmod(parent.stat().st_mode | 0o011)
    try:
        done = subprocess.run(
            [sys.executable, "-c", UNPRIVILEGED, str(top)], capture_output=True, text=True, check=True, timeout=DEADLINE
        )
    finally:
        top.chmod(0o755)
        (top / "closed").chmod(0o755)
    assert done.stdout.splitlines() == [
        f"CheckpointError can't read closed/{CURRENT}: Permission denied",
        "ConnectorError can't write the checkpoint in closed: Permission denied",
        "ConnectorError can't write the checkpoint in new: Permission denied",
    ]


def test_a_file_in_place_of_the_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ConnectorError, match="can't write the checkpoint in") as error:
            Checkpoint(path)
        assert error.value.exit_code == 3
    with pytest.raises(CheckpointError, match="can't read"):
        load(tmp_path / "file")


def test_a_folder_in_place_of_the_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / CURRENT).mkdir()
    with pytest.raises(CheckpointError, match="Is a directory"):
        load(tmp_path)


FINGERPRINT = {
    "features": {"bits": 20, "views": {"words": {"ngrams": [1, 2]}}},
    "fields": {"text": ["text"]},
    "learners": [{"kind": "naive_bayes", "name": "nb", "alpha": 0.3}, {"kind": "perceptron", "name": "p"}],
}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({}, None),
        (
            {"features": {"bits": 22, "views": {"words": {"ngrams": [1, 2]}}}},
            "features.bits: 22 in the checkpoint, 20 now",
        ),
        (
            {"features": {"bits": 20, "views": {"words": {"ngrams": [1, 3]}}}},
            "features.views.words.ngrams: [1, 3] in the checkpoint, [1, 2] now",
        ),
        ({"fields": {"text": ["body"]}}, 'fields.text: ["body"] in the checkpoint, ["text"] now'),
        ({"fields": None}, 'fields: null in the checkpoint, {"text": ["text"]} now'),
        (
            {"learners": [{"kind": "naive_bayes", "name": "nb", "alpha": 1.0}, {"kind": "perceptron", "name": "p"}]},
            "learners.nb.alpha: 1.0 in the checkpoint, 0.3 now",
        ),
        ({"learners": FINGERPRINT["learners"][:1]}, "learners: nb in the checkpoint, nb, p now"),
        ({"learners": FINGERPRINT["learners"][::-1]}, "learners: p, nb in the checkpoint, nb, p now"),
        ({"evaluation": {"window": 5}}, 'evaluation: {"window": 5} in the checkpoint, null now'),
    ],
)
def test_the_first_difference_is_named(changed: dict[str, Any], message: str | None) -> None:
    assert differing(FINGERPRINT, FINGERPRINT | changed) == message


def test_a_missing_optional_key_is_no_difference() -> None:
    """As when a later version has a further optional key."""
    ours = {"evaluation": {"lead": None, "window": 5}, "features": {"bits": 20}}
    assert differing(ours, {"evaluation": {"window": 5}, "features": {"bits": 20}}) is None
    assert (
        differing(ours, {"evaluation": {"window": 5}, "features": {"bits": 9}})
        == "features.bits: 9 in the checkpoint, 20 now"
    )
